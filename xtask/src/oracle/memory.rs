//! Reading from and writing to the memory of a stopped process.

use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;
use std::io::{IoSlice, IoSliceMut};

/// The longest string that is read whole, in bytes.
const LONGEST: usize = 256 * 1024;
/// The longest argument list that is read whole.
const MOST: usize = 4096;

const PAGE: usize = 4096;

/// The bytes at `address`, as many as lie there in one page.
fn piece(process: Pid, address: u64, most: usize) -> Option<Vec<u8>> {
    let base = usize::try_from(address).ok()?;
    let len = most.min(PAGE - base % PAGE);
    let mut buffer = vec![0; len];
    let read =
        process_vm_readv(process, &mut [IoSliceMut::new(&mut buffer)], &[RemoteIoVec { base, len }]).ok()?;
    buffer.truncate(read);
    (read > 0).then_some(buffer)
}

/// The string that ends at the first NUL. `None` if it cannot be read or is too long.
pub(super) fn string(process: Pid, mut address: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    while text.len() < LONGEST {
        let piece = piece(process, address, PAGE)?;
        if let Some(end) = piece.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(piece.get(..end)?);
            return Some(text);
        }
        address += u64::try_from(piece.len()).ok()?;
        text.extend(piece);
    }
    None
}

/// A number of 64 bits.
pub(super) fn number(process: Pid, address: u64) -> Option<u64> {
    let mut bytes = Vec::new();
    while bytes.len() < 8 {
        let next = address + u64::try_from(bytes.len()).ok()?;
        bytes.extend(piece(process, next, 8 - bytes.len())?);
    }
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// A list of strings that ends with a null pointer.
pub(super) fn strings(process: Pid, address: u64) -> Option<Vec<Vec<u8>>> {
    let mut list = Vec::new();
    if address == 0 {
        return Some(list);
    }
    for index in 0..MOST {
        let pointer = number(process, address + 8 * u64::try_from(index).ok()?)?;
        if pointer == 0 {
            return Some(list);
        }
        list.push(string(process, pointer)?);
    }
    None
}

/// Puts bytes there.
pub(super) fn put(process: Pid, address: u64, bytes: &[u8]) -> Option<()> {
    let base = usize::try_from(address).ok()?;
    let written =
        process_vm_writev(process, &[IoSlice::new(bytes)], &[RemoteIoVec { base, len: bytes.len() }]).ok()?;
    (written == bytes.len()).then_some(())
}
