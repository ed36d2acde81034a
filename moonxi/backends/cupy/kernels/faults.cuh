// A label that is no class touches no memory: it is written down (set, operation, label, place, classes), the first one
// for good.

struct Fault { i64 set, operation, label, place, classes; };

DEVICE bool is_class(i64 label, u64 classes, u64 place, i64 operation, Fault* fault) {
    if (label >= 0 && (u64)label < classes) return true;
    if (atomicCAS((u64*)&fault->set, 0ull, 1ull) == 0ull) {
        fault->operation = operation;
        fault->label = label;
        fault->place = (i64)place;
        fault->classes = (i64)classes;
    }
    return false;
}
