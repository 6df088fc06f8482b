//! Memory that is not given back between one long message and the next, because getting it anew takes as long as to fill it.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// What is larger than the bound on queued bytes divided by this, or than 2 MiB, is given back.
const KEPT_PART: usize = 4;
const MOST_KEPT: usize = 2 << 20;

/// Bytes up to which a buffer or a text is kept.
pub(crate) fn most_kept(queued_bytes: usize) -> usize {
    (queued_bytes / KEPT_PART).min(MOST_KEPT)
}

/// Adds a piece to a buffer. It doubles, but not beyond what is kept unless it has to: the next one would have to grow again.
pub(crate) fn add(buffer: &mut Vec<u8>, piece: &[u8], most_kept: usize) {
    let (capacity, needed) = (buffer.capacity(), buffer.len() + piece.len());
    if needed > capacity {
        let most = if needed <= most_kept { most_kept } else { usize::MAX };
        let wanted = needed.max(capacity.saturating_mul(2).min(most));
        buffer.reserve_exact(wanted - buffer.len());
    }
    buffer.extend_from_slice(piece);
}

/// Bytes from which a text is long. Allocators keep what is shorter.
const LONG: usize = 64 << 10;

/// The last long message that a machine has told of. It stays until another one comes, even if nobody else needs it:
/// allocators give memory at the end of their heap back to the system as soon as it is freed.
#[derive(Debug, Default)]
pub(crate) struct LastLong(Option<Arc<str>>);

impl LastLong {
    /// Keeps `text` in the place of the last one, if it is long, but not too long for this bound on queued bytes: machines
    /// of little memory keep none.
    pub(crate) fn keep(&mut self, text: &Arc<str>, queued_bytes: usize) {
        if (LONG..=most_kept(queued_bytes)).contains(&text.len()) {
            self.0 = Some(Arc::clone(text));
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |text| text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_last_of_those_that_are_long_and_not_too_long() {
        let mut last = LastLong::default();
        let text = |length| Arc::<str>::from("x".repeat(length));
        for (length, queued_bytes, kept) in [
            (LONG - 1, 8 << 20, 0),
            (LONG, 8 << 20, LONG),
            (LONG - 1, 8 << 20, LONG),
            (2 << 20, 8 << 20, 2 << 20),
            ((2 << 20) + 1, 8 << 20, 2 << 20),
            ((2 << 20) + 1, 64 << 20, 2 << 20),
            (LONG, 32 << 10, 2 << 20),
            (LONG + 1, 1 << 20, LONG + 1),
        ] {
            last.keep(&text(length), queued_bytes);
            assert_eq!(last.len(), kept, "{length} {queued_bytes}");
        }
    }
}
