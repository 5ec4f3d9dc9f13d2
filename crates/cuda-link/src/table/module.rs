//! Modules, functions, launches and occupancy.

use crate::export::driver_functions;

driver_functions! {
    cuModuleLoad(module: P, fname: P);
    cuModuleLoadData(module: P, image: P);
    cuModuleLoadDataEx(module: P, image: P, num_options: u32, options: P, option_values: P);
    cuModuleLoadFatBinary(module: P, fat_cubin: P);
    cuModuleUnload(hmod: P);
    cuModuleGetFunction(hfunc: P, hmod: P, name: P);
    cuModuleGetGlobal_v2(dptr: P, bytes: P, hmod: P, name: P);
    cuModuleGetTexRef(p_tex_ref: P, hmod: P, name: P);
    cuModuleGetSurfRef(p_surf_ref: P, hmod: P, name: P);
    cuLinkCreate_v2(num_options: u32, options: P, option_values: P, state_out: P);
    cuLinkAddData_v2(
        state: P, kind: u32, data: P, size: usize, name: P, num_options: u32, options: P, option_values: P
    );
    cuLinkAddFile_v2(state: P, kind: u32, path: P, num_options: u32, options: P, option_values: P);
    cuLinkComplete(state: P, cubin_out: P, size_out: P);
    cuLinkDestroy(state: P);
    cuFuncGetAttribute(pi: P, attrib: u32, hfunc: P);
    cuFuncSetAttribute(hfunc: P, attrib: u32, value: i32);
    cuFuncSetCacheConfig(hfunc: P, config: u32);
    cuFuncSetSharedMemConfig(hfunc: P, config: u32);
    cuFuncGetModule(hmod: P, hfunc: P);
    cuLaunchKernel(
        f: P, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x: u32, block_dim_y: u32,
        block_dim_z: u32, shared_mem_bytes: u32, h_stream: P, kernel_params: P, extra: P
    );
    cuLaunchCooperativeKernel(
        f: P, grid_dim_x: u32, grid_dim_y: u32, grid_dim_z: u32, block_dim_x: u32, block_dim_y: u32,
        block_dim_z: u32, shared_mem_bytes: u32, h_stream: P, kernel_params: P
    );
    cuLaunchCooperativeKernelMultiDevice(launch_params_list: P, num_devices: u32, flags: u32);
    cuLaunchHostFunc(h_stream: P, host_fn: P, user_data: P);
    cuFuncSetBlockShape(hfunc: P, x: i32, y: i32, z: i32);
    cuFuncSetSharedSize(hfunc: P, bytes: u32);
    cuParamSetSize(hfunc: P, numbytes: u32);
    cuParamSeti(hfunc: P, offset: i32, value: u32);
    cuParamSetf(hfunc: P, offset: i32, value: f32);
    cuParamSetv(hfunc: P, offset: i32, ptr: P, numbytes: u32);
    cuLaunch(f: P);
    cuLaunchGrid(f: P, grid_width: i32, grid_height: i32);
    cuLaunchGridAsync(f: P, grid_width: i32, grid_height: i32, h_stream: P);
    cuParamSetTexRef(hfunc: P, texunit: i32, h_tex_ref: P);
    cuOccupancyMaxActiveBlocksPerMultiprocessor(
        num_blocks: P, func: P, block_size: i32, dynamic_smem_size: usize
    );
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        num_blocks: P, func: P, block_size: i32, dynamic_smem_size: usize, flags: u32
    );
    cuOccupancyMaxPotentialBlockSize(
        min_grid_size: P, block_size: P, func: P, block_size_to_dynamic_smem_size: P,
        dynamic_smem_size: usize, block_size_limit: i32
    );
    cuOccupancyMaxPotentialBlockSizeWithFlags(
        min_grid_size: P, block_size: P, func: P, block_size_to_dynamic_smem_size: P,
        dynamic_smem_size: usize, block_size_limit: i32, flags: u32
    );
    cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size: P, func: P, num_blocks: i32, block_size: i32);
    // Newer than the bindings of cust 0.3.2: launches with attributes (clusters).
    cuLaunchKernelEx(config: P, function: P, kernel_params: P, extra: P);
}
