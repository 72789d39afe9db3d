//! Methods that change what they are called on.

/// Methods that change the container that they are called on.
pub(super) fn is_mutator(name: &[u8]) -> bool {
    matches!(
        name,
        b"__delitem__"
            | b"__iadd__"
            | b"__iand__"
            | b"__imul__"
            | b"__init__"
            | b"__ior__"
            | b"__isub__"
            | b"__ixor__"
            | b"__setitem__"
            | b"add"
            | b"append"
            | b"appendleft"
            | b"clear"
            | b"difference_update"
            | b"discard"
            | b"extend"
            | b"extendleft"
            | b"insert"
            | b"intersection_update"
            | b"move_to_end"
            | b"pop"
            | b"popitem"
            | b"popleft"
            | b"put"
            | b"remove"
            | b"reverse"
            | b"rotate"
            | b"setdefault"
            | b"sort"
            | b"subtract"
            | b"symmetric_difference_update"
            | b"update"
    )
}
