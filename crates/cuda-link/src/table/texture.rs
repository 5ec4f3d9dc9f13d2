//! Textures, surfaces and graphics.

use crate::export::driver_functions;

driver_functions! {
    cuTexRefSetArray(h_tex_ref: P, h_array: P, flags: u32);
    cuTexRefSetMipmappedArray(h_tex_ref: P, h_mipmapped_array: P, flags: u32);
    cuTexRefSetAddress_v2(byte_offset: P, h_tex_ref: P, dptr: u64, bytes: usize);
    cuTexRefSetAddress2D_v3(h_tex_ref: P, desc: P, dptr: u64, pitch: usize);
    cuTexRefSetFormat(h_tex_ref: P, fmt: u32, num_packed_components: i32);
    cuTexRefSetAddressMode(h_tex_ref: P, dim: i32, am: u32);
    cuTexRefSetFilterMode(h_tex_ref: P, fm: u32);
    cuTexRefSetMipmapFilterMode(h_tex_ref: P, fm: u32);
    cuTexRefSetMipmapLevelBias(h_tex_ref: P, bias: f32);
    cuTexRefSetMipmapLevelClamp(h_tex_ref: P, min_mipmap_level_clamp: f32, max_mipmap_level_clamp: f32);
    cuTexRefSetMaxAnisotropy(h_tex_ref: P, max_aniso: u32);
    cuTexRefSetBorderColor(h_tex_ref: P, p_border_color: P);
    cuTexRefSetFlags(h_tex_ref: P, flags: u32);
    cuTexRefGetAddress_v2(pdptr: P, h_tex_ref: P);
    cuTexRefGetArray(ph_array: P, h_tex_ref: P);
    cuTexRefGetMipmappedArray(ph_mipmapped_array: P, h_tex_ref: P);
    cuTexRefGetAddressMode(pam: P, h_tex_ref: P, dim: i32);
    cuTexRefGetFilterMode(pfm: P, h_tex_ref: P);
    cuTexRefGetFormat(p_format: P, p_num_channels: P, h_tex_ref: P);
    cuTexRefGetMipmapFilterMode(pfm: P, h_tex_ref: P);
    cuTexRefGetMipmapLevelBias(pbias: P, h_tex_ref: P);
    cuTexRefGetMipmapLevelClamp(pmin_mipmap_level_clamp: P, pmax_mipmap_level_clamp: P, h_tex_ref: P);
    cuTexRefGetMaxAnisotropy(pmax_aniso: P, h_tex_ref: P);
    cuTexRefGetBorderColor(p_border_color: P, h_tex_ref: P);
    cuTexRefGetFlags(p_flags: P, h_tex_ref: P);
    cuTexRefCreate(p_tex_ref: P);
    cuTexRefDestroy(h_tex_ref: P);
    cuSurfRefSetArray(h_surf_ref: P, h_array: P, flags: u32);
    cuSurfRefGetArray(ph_array: P, h_surf_ref: P);
    cuTexObjectCreate(p_tex_object: P, p_res_desc: P, p_tex_desc: P, p_res_view_desc: P);
    cuTexObjectDestroy(tex_object: u64);
    cuTexObjectGetResourceDesc(p_res_desc: P, tex_object: u64);
    cuTexObjectGetTextureDesc(p_tex_desc: P, tex_object: u64);
    cuTexObjectGetResourceViewDesc(p_res_view_desc: P, tex_object: u64);
    cuSurfObjectCreate(p_surf_object: P, p_res_desc: P);
    cuSurfObjectDestroy(surf_object: u64);
    cuSurfObjectGetResourceDesc(p_res_desc: P, surf_object: u64);
    cuGraphicsUnregisterResource(resource: P);
    cuGraphicsSubResourceGetMappedArray(p_array: P, resource: P, array_index: u32, mip_level: u32);
    cuGraphicsResourceGetMappedMipmappedArray(p_mipmapped_array: P, resource: P);
    cuGraphicsResourceGetMappedPointer_v2(p_dev_ptr: P, p_size: P, resource: P);
    cuGraphicsResourceSetMapFlags_v2(resource: P, flags: u32);
    cuGraphicsMapResources(count: u32, resources: P, h_stream: P);
    cuGraphicsUnmapResources(count: u32, resources: P, h_stream: P);
    cuGetExportTable(pp_export_table: P, p_export_table_id: P);
}
