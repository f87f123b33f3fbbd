"""Shows tensors in GDB: `print w` answers w f32[2, 3] = {0.5, -1, 2, 0, 1, 3}, has a gradient.

Load it by `source .../retrace.py`. It needs the debug symbols of the program (-g), not those of the library.
"""
import gdb
import gdb.printing

SHOWN = 8  # elements
MAX_RANK = 8


class ShapePrinter:
    """[2, 3]"""

    def __init__(self, shape):
        self.shape = shape

    def extents(self):
        rank = int(self.shape["rank_"])
        if not 0 <= rank <= MAX_RANK:
            raise ValueError(f"a rank of {rank}")
        # Of std::array, which holds a plain array under a name that depends on the library.
        first = self.shape["extents_"].address.cast(gdb.lookup_type("long long").pointer())
        return [int(first[axis]) for axis in range(rank)]

    def to_string(self):
        try:
            return "[" + ", ".join(map(str, self.extents())) + "]"
        except ValueError:
            return "no shape: it is not made yet, or no more"


class TensorPrinter:
    """name f32[2, 3] = {0.5, -1, ...}, has a gradient"""

    # The type of an element, and how many of them an element consists of: a dual shows its value.
    ELEMENTS = {"f32": ("float", 1), "f64": ("double", 1), "i64": ("long long", 1), "dual": ("double", 2)}

    def __init__(self, tensor):
        self.tensor = tensor

    def to_string(self):
        node = self.tensor["node_"]
        if int(node) == 0:
            return "an undefined tensor"
        try:
            return self.describe(node.dereference())
        except (gdb.MemoryError, ValueError, KeyError):
            return "no tensor: it is not made yet, or no more"

    def describe(self, node):
        dtype = str(node["dtype"]).rsplit("::", 1)[-1]
        shape = ShapePrinter(node["shape"])
        extents = shape.extents()
        text = self.name(node) + dtype + shape.to_string()
        if int(node["elements"]) == 0:
            text += ", whose values were given back"
        else:
            text += " = " + self.values(node["elements"], dtype, extents)
        if int(node["gradient"]) != 0:
            text += ", has a gradient"
        elif node["wants_gradient"]:
            text += ", wants a gradient"
        return text

    @staticmethod
    def name(node):
        # The first member of a Node, which follows its base; headers for users declare the base alone.
        string = gdb.lookup_type("std::string").pointer()
        place = gdb.Value(int(node.address) + node.type.sizeof).cast(string.pointer())
        if int(place.dereference()) == 0:
            return ""
        name = place.dereference().dereference()
        return name["_M_dataplus"]["_M_p"].string(length=int(name["_M_string_length"])) + " "

    def values(self, elements, dtype, extents):
        count = 1
        for extent in extents:
            count *= extent
        type_name, stride = self.ELEMENTS[dtype]
        first = elements.cast(gdb.lookup_type(type_name).pointer())
        shown = [first[k * stride].format_string() for k in range(min(count, SHOWN))]
        return "{" + ", ".join(shown + ["..."] * (count > SHOWN)) + "}"


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("retrace")
    collection.add_printer("Tensor", "^retrace::(Tensor|Parameter)$", TensorPrinter)
    collection.add_printer("Shape", "^retrace::Shape$", ShapePrinter)
    return collection


gdb.printing.register_pretty_printer(None, printers(), replace=True)
