"""Gradients of a PyTorch module with an autograd.Function of its own, checked by

    retrace gradcheck --command 'python3 module.py' --input x=3x4 --input weight=2x4 --input bias=2

The inputs other than x are the module's parameters by name. A request is a line {"x": {"x": ..., ...}} and, for
gradients, "dy" beside "x"; models/checks/foreign_program.h has all rules.
"""
import json
import sys

import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(context, dy):
        (x,) = context.saved_tensors
        s = torch.sigmoid(x)
        return dy * (s + x * s * (1 - s))


class Layer(torch.nn.Linear):
    def forward(self, x):
        return Swish.apply(super().forward(x))


module = Layer(4, 2).double()
for line in sys.stdin:
    request = json.loads(line)
    given = {name: torch.tensor(numbers, dtype=torch.float64) for name, numbers in request["x"].items()}
    given = {name: tensor.requires_grad_() for name, tensor in given.items()}
    parameters = {name: tensor for name, tensor in given.items() if name != "x"}
    y = torch.func.functional_call(module, parameters, (given["x"],))
    answer = {"y": y.tolist()}
    if "dy" in request:
        dy = torch.tensor(request["dy"], dtype=torch.float64)
        gradients = torch.autograd.grad(y, list(given.values()), dy)
        answer["dx"] = {name: gradient.tolist() for name, gradient in zip(given, gradients)}
    print(json.dumps(answer), flush=True)
