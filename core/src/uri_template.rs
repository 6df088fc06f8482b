//! URI templates (RFC 6570).
