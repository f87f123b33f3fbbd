"""Gradients of a NumPy program, checked by

    retrace gradcheck --command 'python3 attention.py' --input q=3x4 --input k=5x4 --input v=5x2

y = softmax(q k^T / 2) v, with its gradient by hand. A request is a line {"x": {"q": ..., ...}} and, for gradients,
"dy" beside "x"; models/checks/foreign_program.h has all rules.
"""
import json
import sys

import numpy as np


def answer(x, dy):
    q, k, v = (np.array(x[name]) for name in ("q", "k", "v"))
    scores = q @ k.T / 2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    if dy is None:
        return {"y": (weights @ v).tolist()}
    dy = np.array(dy)
    d_weights = dy @ v.T
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=1, keepdims=True))
    gradients = {"q": d_scores @ k / 2, "k": d_scores.T @ q / 2, "v": weights.T @ dy}
    return {"dx": {name: gradient.tolist() for name, gradient in gradients.items()}}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps(answer(request["x"], request.get("dy"))), flush=True)
