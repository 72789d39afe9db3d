//! Memory for what is large, and for what is small and comes again.
//!
//! The kernel gives memory page by page, and each page costs a fault: a long command takes hundreds of bytes for each of
//! its own, and a third of its judgement was asking for them. [`LargePages`] asks for pages of 2 MiB instead, where a block
//! is large enough to hold some. Where the kernel gives none, nothing changes.
//!
//! A thread that judges one command after another asks for the same small blocks again and again. After
//! [`LargePages::keep_small_blocks`] it keeps those that it gives back, by size, which takes a tenth of the instructions
//! that the C library takes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{copy_nonoverlapping, null_mut};

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

impl LargePages {
    /// This thread keeps small blocks that it gives back, at most 2 MiB of them, until the process ends: for a thread that
    /// lives as long.
    pub fn keep_small_blocks() {
        KEPT.with(|kept| kept.iter().for_each(|kept| kept.room.set(MOST)));
    }
}

/// Small blocks have one of so many sizes.
const SIZES: usize = 63;

/// Bytes of the blocks of each size: what the C library has room for in its smallest block and in each that is larger.
const fn bytes(size: usize) -> usize {
    24 + 16 * size
}

/// How a small block is aligned, whatever was asked for.
const ALIGNED: usize = 16;

/// Most blocks of one size that are kept.
const MOST: u32 = 64;

/// Blocks of one size that a thread keeps.
struct Kept {
    first: Cell<*mut Free>,
    /// For so many more.
    room: Cell<u32>,
}

/// What lies in a block that is kept.
struct Free {
    next: *mut Free,
}

thread_local! {
    // Nothing is done with it when the thread ends, so it is there until then.
    static KEPT: [Kept; SIZES] =
        const { [const { Kept { first: Cell::new(null_mut()), room: Cell::new(0) } }; SIZES] };
}

/// Which of the sizes a block has that is asked for like this: the same when it is given back.
#[inline]
const fn class_of(layout: Layout) -> Option<usize> {
    if layout.size() <= bytes(SIZES - 1) && layout.align() <= ALIGNED {
        Some((layout.size().saturating_sub(bytes(0))).div_ceil(16))
    } else {
        None
    }
}

/// A small block that was kept, or null.
#[inline]
fn kept(size: usize) -> *mut u8 {
    KEPT.with(|all| {
        let Some(kept) = all.get(size) else { return null_mut() };
        let block = kept.first.get();
        if !block.is_null() {
            // SAFETY: what is kept was written by `keep` and is nobody else's.
            kept.first.set(unsafe { (*block).next });
            kept.room.set(kept.room.get() + 1);
        }
        block.cast()
    })
}

/// Keeps a small block that nobody uses any more, if there is room.
///
/// # Safety
/// It is a block of the system's allocator of this size.
#[inline]
unsafe fn keep(size: usize, block: *mut u8) -> bool {
    KEPT.with(|all| {
        let Some(kept) = all.get(size) else { return false };
        let room = kept.room.get();
        if room == 0 {
            return false;
        }
        let block: *mut Free = block.cast();
        // SAFETY: the block is ours, aligned to 16 bytes, and has 24 at least.
        unsafe { block.write(Free { next: kept.first.get() }) };
        kept.first.set(block);
        kept.room.set(room - 1);
        true
    })
}

/// How a small block is asked for.
#[inline]
const fn whole(size: usize, otherwise: Layout) -> Layout {
    match Layout::from_size_align(bytes(size), ALIGNED) {
        Ok(layout) => layout,
        Err(_) => otherwise,
    }
}

// SAFETY: every block comes from the system's allocator and goes back there with the same layout, or is kept by one thread
// meanwhile. Small blocks are as large as their size says, whoever asked for them, so that any may take the place of
// another. The advice changes no content and no address.
unsafe impl GlobalAlloc for LargePages {
    // Not inlined: there are thousands of callers, and what they would grow by is read from disk at every start.
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(size) = class_of(layout) else {
            // SAFETY: the caller's promises are those of the system's allocator.
            return advised(unsafe { System.alloc(layout) }, layout.size());
        };
        let block = kept(size);
        if block.is_null() {
            // SAFETY: no size is zero.
            return unsafe { System.alloc(whole(size, layout)) };
        }
        block
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(size) = class_of(layout) else {
            // SAFETY: as in `alloc`.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: what was asked for with this layout is a block of this size, and has it as its layout.
        unsafe {
            if !keep(size, block) {
                System.dealloc(block, whole(size, layout));
            }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let layout = class_of(layout).map_or(layout, |size| whole(size, layout));
        // SAFETY: as in `alloc`.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(wanted) = Layout::from_size_align(size, layout.align()) else { return null_mut() };
        // SAFETY: as above; what is copied lies in both blocks.
        unsafe {
            match (class_of(layout), class_of(wanted)) {
                (Some(before), Some(after)) if before == after => block,
                (Some(before), Some(after)) => {
                    let other = self.alloc(wanted);
                    if !other.is_null() {
                        copy_nonoverlapping(block, other, bytes(before.min(after)));
                        self.dealloc(block, layout);
                    }
                    other
                }
                (Some(before), None) => System.realloc(block, whole(before, layout), size),
                (None, Some(after)) => System.realloc(block, layout, bytes(after)),
                (None, None) => advised(System.realloc(block, layout, size), size),
            }
        }
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

/// The advice is about all pages that a block lies in, those too in which the C library keeps the block's size: pages that
/// are advised otherwise than those beside them are another mapping to the kernel, which then cannot enlarge the block where
/// it lies or move its pages (`mremap`), and for a moment it is there twice.
#[cold]
fn advise(block: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let start = block.addr() & !(PAGE - 1);
    // A large block begins two words behind the start of its mapping, and a third word belongs to it.
    let end = (start + size.next_multiple_of(16) + 3 * size_of::<usize>()).next_multiple_of(PAGE);
    // SAFETY: no content changes, whatever else lies in those pages, and what the kernel answers does not matter.
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

    #[test]
    fn a_large_block_is_one_mapping_so_that_it_grows_without_a_copy() {
        for size in [LARGE, 3 * LARGE + 5, 8 * LARGE - 16, 8 * LARGE - 17, 8 * LARGE - 24, 48 << 20] {
            let layout = Layout::array::<u8>(size).unwrap();
            // SAFETY: the size is not zero, and the block is given back with its layout.
            unsafe {
                let block = LargePages.alloc(layout);
                let (first, last) = (block.addr(), block.addr() + size - 1);
                let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
                let holds = |line: &str| {
                    let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
                    let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).unwrap());
                    // Its size stands before it, maybe on a page of its own.
                    start < first && last < end
                };
                assert_eq!(maps.lines().filter(|line| holds(line)).count(), 1, "{size}");
                LargePages.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn small_blocks_come_again_and_keep_their_content() {
        let of = |size| Layout::array::<u8>(size).unwrap();
        for size in 1..=bytes(SIZES - 1) {
            let class = class_of(of(size)).unwrap();
            assert!(bytes(class) >= size && (class == 0 || bytes(class - 1) < size), "{size}");
        }
        assert!(class_of(of(bytes(SIZES - 1) + 1)).is_none());
        assert!(class_of(Layout::from_size_align(64, 32).unwrap()).is_none());
        let kept = move || {
            LargePages::keep_small_blocks();
            // SAFETY: sizes are not zero, and each block is given back once, with the layout that it has then.
            unsafe {
                let mut blocks: Vec<*mut u8> = (0..2 * MOST).map(|_| LargePages.alloc(of(100))).collect();
                blocks.iter().for_each(|block| LargePages.dealloc(*block, of(100)));
                let mut again: Vec<*mut u8> = (0..MOST).map(|_| LargePages.alloc(of(90))).collect();
                blocks.truncate(MOST as usize);
                again.reverse();
                assert_eq!(again, blocks, "as many as there is room for are kept, and come back");
                again.iter().for_each(|block| LargePages.dealloc(*block, of(90)));
                let zeroed = LargePages.alloc_zeroed(of(100));
                assert!((0..100).all(|at| zeroed.add(at).read() == 0));
                LargePages.dealloc(zeroed, of(100));
                let mut block = LargePages.alloc(of(20));
                block.write_bytes(7, 20);
                let mut size = 20;
                for next in [21, 24, 25, 1000, 1016, 1017, 5000, 4000, 300, 20] {
                    block = LargePages.realloc(block, of(size), next);
                    size = next;
                    assert!((0..20).all(|at| block.add(at).read() == 7), "{next}");
                    block.add(20).write_bytes(next as u8, next - 20);
                }
                LargePages.dealloc(block, of(size));
            }
        };
        // A thread of its own, so that no other test finds its blocks.
        std::thread::spawn(kept).join().unwrap();
    }
}
