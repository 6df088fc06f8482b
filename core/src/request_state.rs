//! Seal and open of `requestState`: what a server asks its client to carry from one round to the next.
//!
//! A server that needs input ends the request and lets the client bring its state back with the retry, so that
//! any replica can go on. The client may be hostile, so the state is encrypted and authenticated, and it opens
//! only for the same principal, for the same request, and before it expires (multi round-trip requests, server
//! requirements of the basic workflow).
//!
//! **Single use is not promised.** A state can be presented again until it expires. Where something must happen
//! once at most, the application keeps that record itself.
//!
//! # Format
//!
//! `v1.` and base64url without padding of `nonce (24) || ciphertext || tag (16)`: XChaCha20-Poly1305. The
//! plaintext is the expiry (8 bytes, big-endian) and the content. The associated data are the format's name, the
//! principal (marker byte and length, so that "none" and "empty" differ) and the request digest.
//!
//! The nonce on the wire is a keyed SHA-256 of the caller's nonce and everything that is sealed. A nonce given
//! twice, for example by replicas that were started with one seed, thus shows at most that two states are
//! identical; it does not break the encryption.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{AeadInPlace as _, KeyInit as _};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use sha2::{Digest as _, Sha256};

/// Names the format in front of the sealed bytes. Another version opens as [`OpenError::Malformed`].
const VERSION: &str = "v1.";
/// Binds the associated data and the derived nonce to this use and version.
const CONTEXT: &[u8] = b"barewire requestState v1";
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const EXPIRY_BYTES: usize = 8;

/// What a sealed state belongs to. It is not stored in the state; whoever opens it must present the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding<'a> {
    /// The authenticated principal (for example issuer, subject and client in one string), `None` where the
    /// transport has none. `None` and `Some("")` are different.
    pub(crate) principal: Option<&'a str>,
    /// [`request_digest`] of the request that the state answers.
    pub(crate) request: [u8; 32],
}

/// SHA-256 over the parts of a request that must be the same in the retry: its method, then the salient params.
///
/// Each part is preceded by its length, so `["ab", "c"]` and `["a", "bc"]` differ. Leave out what changes between
/// rounds: the id, `inputResponses`, `requestState`, the progress token.
#[must_use]
pub(crate) fn request_digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// The keys of a server: one seals, all open.
///
/// To rotate, make the new key the first one and keep the former among the older ones until the last state it
/// sealed has expired. All replicas that may receive a retry need the same keys. `Debug` shows only their number.
pub(crate) struct RequestStateKeys {
    sealing: Key,
    older: Vec<Key>,
}

/// A state that was authentic, bound as presented, and not expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The bytes given to [`RequestStateKeys::seal`].
    pub(crate) content: Vec<u8>,
    /// When the state expires, in Unix milliseconds.
    pub(crate) expires_at: u64,
}

/// The sealed text would be longer than the bound. Nothing was sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SealedTooLarge {
    /// Length that the text would have, in bytes.
    pub(crate) bytes: usize,
    /// The bound that was given.
    pub(crate) limit: usize,
}

/// Why a state did not open. For logs and metrics: the peer is told [`OpenError::PEER_MESSAGE`] in every case, so
/// that it learns nothing about keys, principals or expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpenError {
    /// Longer than the bound, another version, not canonical base64url, or too short.
    Malformed,
    /// Sealed with an unknown key, for another principal or another request, or changed on the way. These cannot be
    /// told apart.
    WrongKeyOrTampered,
    /// Authentic, but presented at or after its expiry.
    Expired,
}

impl OpenError {
    /// The one message for the peer, whatever the reason.
    pub(crate) const PEER_MESSAGE: &'static str = "requestState is not valid for this request";
}

impl RequestStateKeys {
    /// `first` seals and opens; `older` only open. Every key is 32 secret random bytes, for example from
    /// [`Seed::derive`](crate::seed::Seed::derive) where no other process must open the states.
    ///
    /// Opening tries the keys in order, and each costs one pass over the text: keep the list short.
    #[must_use]
    pub(crate) fn new(first: [u8; 32], older: &[[u8; 32]]) -> Self {
        Self { sealing: Key::new(&first), older: older.iter().map(Key::new).collect() }
    }

    /// Seals `content` until `expires_at` (Unix milliseconds; the state is refused from that instant on).
    ///
    /// `nonce` comes from a [`Generator`](crate::seed::Generator) and should never repeat. `max_text_bytes` bounds
    /// the returned text; exceeding it gives [`SealedTooLarge`].
    pub(crate) fn seal(
        &self,
        content: &[u8],
        binding: &Binding<'_>,
        expires_at: u64,
        nonce: [u8; NONCE_BYTES],
        max_text_bytes: usize,
    ) -> Result<String, SealedTooLarge> {
        let text_bytes = sealed_text_bytes(content.len());
        if text_bytes > max_text_bytes {
            return Err(SealedTooLarge { bytes: text_bytes, limit: max_text_bytes });
        }
        let associated = associated_data(binding);
        let mut sealed = Vec::with_capacity(NONCE_BYTES + EXPIRY_BYTES + content.len() + TAG_BYTES);
        sealed.extend_from_slice(&[0; NONCE_BYTES]);
        sealed.extend_from_slice(&expires_at.to_be_bytes());
        sealed.extend_from_slice(content);
        // `sealed` holds the 24 bytes written above.
        let (head, plaintext) = sealed.split_at_mut(NONCE_BYTES);
        let nonce = self.sealing.hedged_nonce(nonce, &associated, plaintext);
        head.copy_from_slice(&nonce);
        // The cipher refuses only beyond 256 GiB, and such a text cannot have passed the bound as a real slice.
        let Ok(tag) = self.sealing.cipher.encrypt_in_place_detached(&nonce, &associated, plaintext) else {
            return Err(SealedTooLarge { bytes: text_bytes, limit: max_text_bytes });
        };
        sealed.extend_from_slice(&tag);
        let mut text = String::with_capacity(text_bytes);
        text.push_str(VERSION);
        URL_SAFE_NO_PAD.encode_string(&sealed, &mut text);
        Ok(text)
    }

    /// Opens what a peer sent. `now` is Unix milliseconds. A text longer than `max_text_bytes` is refused before
    /// anything is decoded or allocated.
    pub(crate) fn open(
        &self,
        text: &str,
        binding: &Binding<'_>,
        now: u64,
        max_text_bytes: usize,
    ) -> Result<Opened, OpenError> {
        if text.len() > max_text_bytes {
            return Err(OpenError::Malformed);
        }
        let encoded = text.strip_prefix(VERSION).ok_or(OpenError::Malformed)?;
        let mut bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| OpenError::Malformed)?;
        if bytes.len() < NONCE_BYTES + EXPIRY_BYTES + TAG_BYTES {
            return Err(OpenError::Malformed);
        }
        let plaintext = self.decrypt(&mut bytes, &associated_data(binding))?;
        let (expiry, content) = plaintext.split_first_chunk().ok_or(OpenError::Malformed)?;
        let expires_at = u64::from_be_bytes(*expiry);
        if now >= expires_at {
            return Err(OpenError::Expired);
        }
        Ok(Opened { content: content.to_vec(), expires_at })
    }

    /// Decrypts in place with the first key that authenticates. A failed attempt leaves the bytes as they were: the
    /// tag is compared before anything is decrypted.
    fn decrypt<'b>(&self, bytes: &'b mut [u8], associated: &[u8]) -> Result<&'b [u8], OpenError> {
        let (nonce, rest) = bytes.split_at_mut(NONCE_BYTES);
        let (ciphertext, tag) = rest.split_at_mut(rest.len() - TAG_BYTES);
        let (nonce, tag) = (XNonce::from_slice(nonce), Tag::from_slice(tag));
        core::iter::once(&self.sealing)
            .chain(&self.older)
            .any(|key| key.cipher.decrypt_in_place_detached(nonce, associated, ciphertext, tag).is_ok())
            .then_some(&*ciphertext)
            .ok_or(OpenError::WrongKeyOrTampered)
    }
}

impl fmt::Debug for RequestStateKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RequestStateKeys({} keys)", 1 + self.older.len())
    }
}

impl fmt::Display for SealedTooLarge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "requestState would take {} bytes, more than the limit of {}",
            self.bytes, self.limit
        )
    }
}

impl core::error::Error for SealedTooLarge {}

impl fmt::Display for OpenError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Malformed => "requestState is malformed",
            Self::WrongKeyOrTampered => "requestState failed authentication",
            Self::Expired => "requestState has expired",
        })
    }
}

impl core::error::Error for OpenError {}

/// One key, ready for use: the cipher, and a second key for the nonces.
struct Key {
    cipher: XChaCha20Poly1305,
    nonce_key: [u8; 32],
}

impl Key {
    fn new(bytes: &[u8; 32]) -> Self {
        let nonce_key = Sha256::new().chain_update(CONTEXT).chain_update(bytes).finalize().into();
        Self { cipher: XChaCha20Poly1305::new(bytes.into()), nonce_key }
    }

    /// Lengths come before what they measure, so that no encoding is a prefix of another one.
    fn hedged_nonce(&self, given: [u8; NONCE_BYTES], associated: &[u8], plaintext: &[u8]) -> XNonce {
        let hash = Sha256::new()
            .chain_update(self.nonce_key)
            .chain_update(given)
            .chain_update((associated.len() as u64).to_be_bytes())
            .chain_update((plaintext.len() as u64).to_be_bytes())
            .chain_update(associated)
            .chain_update(plaintext)
            .finalize();
        *XNonce::from_slice(&hash[..NONCE_BYTES])
    }
}

fn associated_data(binding: &Binding<'_>) -> Vec<u8> {
    let principal = binding.principal.unwrap_or_default();
    let mut data = Vec::with_capacity(CONTEXT.len() + 9 + principal.len() + binding.request.len());
    data.extend_from_slice(CONTEXT);
    data.push(u8::from(binding.principal.is_some()));
    data.extend_from_slice(&(principal.len() as u64).to_be_bytes());
    data.extend_from_slice(principal.as_bytes());
    data.extend_from_slice(&binding.request);
    data
}

/// Length of the text for a content of this length. Saturates, so that no bound admits an overflow.
const fn sealed_text_bytes(content_bytes: usize) -> usize {
    let sealed = content_bytes.saturating_add(NONCE_BYTES + EXPIRY_BYTES + TAG_BYTES);
    let rest = match sealed % 3 {
        0 => 0,
        odd => odd + 1,
    };
    (sealed / 3).saturating_mul(4).saturating_add(rest + VERSION.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Generator, Seed};
    use alloc::format;
    use alloc::string::ToString as _;
    use alloc::vec;

    const LIMIT: usize = 4096;
    const BINDING: Binding<'static> = Binding { principal: Some("alice"), request: [3; 32] };

    fn keys() -> RequestStateKeys {
        RequestStateKeys::new([1; 32], &[])
    }

    fn sealed(content: &[u8]) -> String {
        keys().seal(content, &BINDING, 1000, [9; 24], LIMIT).unwrap()
    }

    fn open(text: &str) -> Result<Opened, OpenError> {
        keys().open(text, &BINDING, 999, LIMIT)
    }

    #[test]
    fn every_length_comes_back_and_has_the_announced_size() {
        let mut generator = Generator::new(&Seed::new([5; 32]), "request state");
        for length in (0..200).chain([1000, 1024, 65_535]) {
            let mut content = vec![0; length];
            generator.fill(&mut content);
            let text = keys().seal(&content, &BINDING, u64::MAX, generator.array(), usize::MAX).unwrap();
            assert_eq!(text.len(), sealed_text_bytes(length));
            let opened = keys().open(&text, &BINDING, u64::MAX - 1, text.len()).unwrap();
            assert_eq!(opened, Opened { content, expires_at: u64::MAX });
        }
    }

    // proves: BASE-344 BASE-345 FEAT-665
    #[test]
    fn every_flipped_bit_is_refused() {
        for content in
            [&b""[..], b"x", b"ab", b"a longer state with more than one block of the cipher, to be sure"]
        {
            let text = sealed(content);
            assert!(open(&text).is_ok());
            for index in 0..text.len() {
                for bit in 0..8 {
                    let mut bytes = text.clone().into_bytes();
                    bytes[index] ^= 1 << bit;
                    // What is not UTF-8 cannot arrive in a JSON string.
                    if let Ok(changed) = String::from_utf8(bytes) {
                        assert!(open(&changed).is_err(), "byte {index}, bit {bit}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_truncation_and_extension_is_refused() {
        let text = sealed(b"content");
        for length in 0..text.len() {
            assert!(open(&text[..length]).is_err(), "{length} bytes");
        }
        for tail in ["A", "AAAA", "=", "==", " ", "\n", "."] {
            assert!(open(&format!("{text}{tail}")).is_err(), "{tail:?}");
        }
    }

    // proves: BASE-347 FEAT-666
    #[test]
    fn another_principal_is_refused() {
        let text = sealed(b"content");
        for principal in [None, Some(""), Some("bob"), Some("alice "), Some("alic")] {
            let binding = Binding { principal, ..BINDING };
            assert_eq!(keys().open(&text, &binding, 0, LIMIT), Err(OpenError::WrongKeyOrTampered));
        }
        for (sealed_for, presented_by) in [(None, Some("")), (Some(""), None)] {
            let text = keys()
                .seal(b"", &Binding { principal: sealed_for, ..BINDING }, 1000, [0; 24], LIMIT)
                .unwrap();
            let binding = Binding { principal: presented_by, ..BINDING };
            assert_eq!(keys().open(&text, &binding, 0, LIMIT), Err(OpenError::WrongKeyOrTampered));
        }
    }

    // proves: BASE-347 FEAT-666
    #[test]
    fn another_request_is_refused() {
        let text = sealed(b"content");
        let binding = Binding { request: request_digest([b"tools/call".as_slice()]), ..BINDING };
        assert_eq!(keys().open(&text, &binding, 0, LIMIT), Err(OpenError::WrongKeyOrTampered));
    }

    // proves: BASE-347 FEAT-666
    #[test]
    fn the_state_expires_at_its_instant_and_not_before() {
        let text = sealed(b"content");
        assert_eq!(keys().open(&text, &BINDING, 999, LIMIT).unwrap().expires_at, 1000);
        assert_eq!(keys().open(&text, &BINDING, 1000, LIMIT), Err(OpenError::Expired));
        assert_eq!(keys().open(&text, &BINDING, u64::MAX, LIMIT), Err(OpenError::Expired));
    }

    #[test]
    fn expiry_is_told_only_of_an_authentic_state() {
        let mut text = sealed(b"content");
        let last = if text.pop() == Some('A') { 'Q' } else { 'A' };
        text.push(last);
        assert_eq!(keys().open(&text, &BINDING, u64::MAX, LIMIT), Err(OpenError::WrongKeyOrTampered));
    }

    #[test]
    fn older_keys_open_and_only_the_first_seals() {
        let old = sealed(b"content");
        let rotated = RequestStateKeys::new([2; 32], &[[8; 32], [1; 32]]);
        for older in [[[1; 32], [8; 32]], [[8; 32], [1; 32]]] {
            let keys = RequestStateKeys::new([2; 32], &older);
            assert_eq!(keys.open(&old, &BINDING, 0, LIMIT).unwrap().content, b"content");
        }
        let new = rotated.seal(b"content", &BINDING, 1000, [9; 24], LIMIT).unwrap();
        assert_eq!(rotated.open(&new, &BINDING, 0, LIMIT).unwrap().content, b"content");
        assert_eq!(open(&new), Err(OpenError::WrongKeyOrTampered));
        let without_old = RequestStateKeys::new([2; 32], &[]);
        assert_eq!(without_old.open(&old, &BINDING, 0, LIMIT), Err(OpenError::WrongKeyOrTampered));
    }

    #[test]
    fn what_is_not_this_format_is_malformed() {
        let text = sealed(b"content");
        let body = &text[VERSION.len()..];
        let foreign = [
            String::new(),
            "v1.".to_string(),
            "v1.AAAA".to_string(),
            "v1.€".to_string(),
            body.to_string(),
            format!("v2.{body}"),
            format!("V1.{body}"),
            format!("v1{body}"),
            format!(" {text}"),
            format!("v1.{}", "A".repeat(62)),
        ];
        for text in foreign {
            assert_eq!(open(&text), Err(OpenError::Malformed), "{text:?}");
        }
    }

    #[test]
    fn both_directions_keep_the_bound() {
        let text = sealed(b"content");
        let limit = text.len() - 1;
        assert_eq!(
            keys().seal(b"content", &BINDING, 1000, [9; 24], limit),
            Err(SealedTooLarge { bytes: text.len(), limit })
        );
        assert_eq!(keys().open(&text, &BINDING, 0, limit), Err(OpenError::Malformed));
        assert!(keys().open(&text, &BINDING, 0, text.len()).is_ok());
    }

    #[test]
    fn a_repeated_nonce_does_not_repeat_the_keystream() {
        let decode = |text: &str| URL_SAFE_NO_PAD.decode(&text[VERSION.len()..]).unwrap();
        let (first, second) = (decode(&sealed(b"content A")), decode(&sealed(b"content B")));
        assert_ne!(first[..NONCE_BYTES], second[..NONCE_BYTES]);
        let shared = NONCE_BYTES..NONCE_BYTES + EXPIRY_BYTES;
        assert_ne!(first[shared.clone()], second[shared]);
        let other = Binding { principal: Some("bob"), ..BINDING };
        let third = decode(&keys().seal(b"content A", &other, 1000, [9; 24], LIMIT).unwrap());
        assert_ne!(first[..NONCE_BYTES], third[..NONCE_BYTES]);
    }

    #[test]
    fn the_same_inputs_seal_alike_and_the_nonce_matters() {
        assert_eq!(sealed(b"content"), sealed(b"content"));
        assert_ne!(sealed(b"content"), keys().seal(b"content", &BINDING, 1000, [8; 24], LIMIT).unwrap());
    }

    #[test]
    fn the_content_is_not_readable() {
        let bytes = URL_SAFE_NO_PAD.decode(&sealed(b"top secret content")[VERSION.len()..]).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn the_digest_depends_on_every_part_and_its_borders() {
        let digest = |parts: &[&str]| request_digest(parts.iter().map(|part| part.as_bytes()));
        let all: &[&[&str]] = &[&[], &[""], &["", ""], &["abc"], &["ab", "c"], &["a", "bc"], &["abc", ""]];
        for (index, left) in all.iter().enumerate() {
            for right in &all[index + 1..] {
                assert_ne!(digest(left), digest(right), "{left:?} {right:?}");
            }
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let keys = RequestStateKeys::new([0xAB; 32], &[[0xCD; 32]]);
        assert_eq!(format!("{keys:?}"), "RequestStateKeys(2 keys)");
    }
}
