//! Resources and resource templates (server/resources).

use alloc::string::String;
use alloc::vec::Vec;

use super::content::{Annotations, ResourceContents};
use super::value::{Object, object};

object! {
    /// A resource's definition.
    Resource {
        required {
            /// Where it is.
            uri: String = "uri";
            /// Its name.
            name: String = "name";
        }
        optional {
            /// Its name for people. From 2025-06-18.
            title: String = "title";
            /// What it is.
            description: String = "description";
            /// Its media type.
            mime_type: String = "mimeType";
            /// Its size in bytes.
            size: i64 = "size";
            /// Hints.
            annotations: Annotations = "annotations";
            /// Icons. From 2025-11-25.
            icons: Vec<Object> = "icons";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A family of resources, by a URI template (RFC 6570).
    ResourceTemplate {
        required {
            /// The template.
            uri_template: String = "uriTemplate";
            /// Its name.
            name: String = "name";
        }
        optional {
            /// Its name for people. From 2025-06-18.
            title: String = "title";
            /// What it is.
            description: String = "description";
            /// The media type, if all have the same.
            mime_type: String = "mimeType";
            /// Hints.
            annotations: Annotations = "annotations";
            /// Icons. From 2025-11-25.
            icons: Vec<Object> = "icons";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// What reading a resource gives.
    ReadResourceResult {
        required {
            /// The contents; several where the resource is made of parts.
            contents: Vec<ResourceContents> = "contents";
        }
        optional {
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}
