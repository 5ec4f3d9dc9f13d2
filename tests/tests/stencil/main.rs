//! Filters, textures and what is iterated of them.

mod support {
    pub mod image;
}

mod filters;
mod iterate;
mod memories;
mod opencv;
mod resize;
mod scipy;
mod signal;
mod sobel;
mod texture;
mod variants;
