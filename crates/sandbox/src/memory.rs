//! Memory for what is large.
//!
//! The kernel gives memory page by page, and each page costs a fault: a long command takes hundreds of bytes for each of
//! its own, and a third of its judgement was asking for them. [`LargePages`] asks for pages of 2 MiB instead, where a block
//! is large enough to hold some. Where the kernel gives none, nothing changes.

use std::alloc::{GlobalAlloc, Layout, System};

/// Blocks of so many bytes and more are asked for in large pages. Smaller ones would hold none, or mostly pay for bytes
/// that nobody uses.
const LARGE: usize = 2 << 20;

/// The system's allocator, with large pages for large blocks.
///
/// ```
/// # use shward_sandbox as shward;
/// #[global_allocator]
/// static MEMORY: shward::LargePages = shward::LargePages;
///
/// let block = vec![1_u8; 8 << 20];
/// assert!(block.iter().all(|byte| *byte == 1));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

// SAFETY: every call goes to the system's allocator unchanged; the advice changes no content and no address.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }
}

/// Has the kernel give large pages for a block that was just allocated, if it is large.
#[inline]
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !block.is_null() {
        advise(block, size);
    }
    block
}

#[cold]
fn advise(block: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let start = block.addr().next_multiple_of(PAGE);
    let end = (block.addr() + size) & !(PAGE - 1);
    // SAFETY: whole pages of a block that is allocated; no content changes, and what the kernel answers does not matter.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(start), end.saturating_sub(start), libc::MADV_HUGEPAGE)
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_every_size_hold_what_is_put_into_them() {
        for size in [1, 4096, LARGE - 1, LARGE, 3 * LARGE + 5] {
            let layout = Layout::array::<u8>(size).unwrap();
            let larger = Layout::array::<u8>(2 * size).unwrap();
            // SAFETY: sizes are not zero, and the block is given back with the layout that it has then.
            unsafe {
                let block = LargePages.alloc_zeroed(layout);
                block.add(size - 1).write(7);
                let block = LargePages.realloc(block, layout, larger.size());
                assert_eq!((block.read() == 7, block.add(size - 1).read()), (size == 1, 7));
                block.add(larger.size() - 1).write(9);
                LargePages.dealloc(block, larger);
            }
        }
    }
}
