"""Starts a program to which a process in a new user namespace is refused, as shward makes it, and such a helper (clone with CLONE_VM,
unshare with CLONE_NEWNET); bubblewrap makes its own by another call. That is what AppArmor does where it restricts user namespaces."""
import ctypes, os, platform, struct, sys
CLONE, UNSHARE = {'x86_64': (56, 272), 'aarch64': (220, 97)}[platform.machine()]
OURS, AHEAD = 0x10000100, 0x50000000
code = [(0x20, 0, 0, 0), (0x15, 3, 0, CLONE), (0x15, 5, 0, UNSHARE), (0x15, 9, 0, 435), (0x06, 0, 0, 0x7fff0000),
        (0x20, 0, 0, 16), (0x54, 0, 0, OURS), (0x15, 4, 3, OURS), (0x20, 0, 0, 16), (0x54, 0, 0, AHEAD), (0x15, 1, 0, AHEAD),
        (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x50026)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *each) for each in code))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
header = struct.pack('H6xQ', len(code) // 8, ctypes.addressof(code))
if libc.prctl(22, 2, header) != 0: sys.exit('no filter')
os.execv(sys.argv[1], sys.argv[1:])
