//! Functions that the driver lacks, by name, so that every program links: each says once that it is missing.
//!
//! Together with the functions of the other files these are all names of `cust_raw` 0.11 (CUDA 11.2) and of `cudarc` 0.19 (up to
//! CUDA 13). The largest groups are graphs, textures and arrays, virtual memory management, graphics and external memory, the linker,
//! and libraries of kernels.

use crate::code::Code;
use crate::notice;

fn missing(name: &str) -> u32 {
    notice::say_once(&format!("{name} is not supported"));
    Code::NOT_SUPPORTED.number()
}

/// Functions without arguments here: C passes them in registers and on its own stack, and nobody looks.
macro_rules! missing {
    ($($name:ident)*) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the driver's name")]
            pub extern "C" fn $name() -> u32 {
                missing(stringify!($name))
            }
        )*

        /// The functions of this file.
        pub static ENTRIES: &[crate::guard::Entry] =
            &[$(crate::guard::Entry { name: stringify!($name), address: $name as *const () },)*];
    };
}

#[rustfmt::skip]
missing! {
    cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayDestroy cuArrayGetDescriptor_v2
    cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuCoredumpDeregisterCompleteCallback
    cuCoredumpDeregisterStartCallback cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal
    cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuCoredumpSetAttribute
    cuCoredumpSetAttributeGlobal cuCtxFromGreenCtx cuCtxGetDevResource cuCtxGetExecAffinity cuDestroyExternalMemory
    cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplit cuDevSmResourceSplitByCount
    cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetDevResource cuDeviceGetFabricClusterUuid
    cuDeviceGetGraphMemAttribute cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid cuDeviceGetNvSciSyncAttributes
    cuDeviceGetP2PAtomicCapabilities cuDeviceGetP2PAttribute cuDeviceGetTexture1DLinearMaxWidth cuDeviceGraphMemTrim
    cuDeviceRegisterAsyncNotification cuDeviceSetGraphMemAttribute cuDeviceUnregisterAsyncNotification
    cuExternalMemoryGetMappedBuffer cuExternalMemoryGetMappedMipmappedArray cuFuncSetBlockShape cuFuncSetSharedSize
    cuGetExportTable cuGraphAddBatchMemOpNode cuGraphAddChildGraphNode cuGraphAddDependencies
    cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode cuGraphAddEventWaitNode
    cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode
    cuGraphAddKernelNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddMemcpyNode
    cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2 cuGraphAddNode_v3 cuGraphBatchMemOpNodeGetParams
    cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphConditionalHandleCreate
    cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode cuGraphEventRecordNodeGetEvent
    cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent
    cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy
    cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
    cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams
    cuGraphExecGetFlags cuGraphExecGetId cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
    cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
    cuGraphExecNodeSetParams cuGraphExecUpdate cuGraphExecUpdate_v2 cuGraphExternalSemaphoresSignalNodeGetParams
    cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetEdges_v2 cuGraphGetId cuGraphGetNodes
    cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphInstantiateWithFlags
    cuGraphInstantiateWithParams cuGraphInstantiate_v2 cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute
    cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams
    cuGraphKernelNodeSetParams_v2 cuGraphLaunch cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams
    cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams
    cuGraphNodeFindInClone cuGraphNodeGetContainingGraph cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
    cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2 cuGraphNodeGetEnabled cuGraphNodeGetLocalId
    cuGraphNodeGetParams cuGraphNodeGetToolsId cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphNodeSetParams
    cuGraphNodeSetParams_v2 cuGraphReleaseUserObject cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
    cuGraphRetainUserObject cuGraphUpload cuGraphicsMapResources cuGraphicsResourceGetMappedMipmappedArray
    cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray
    cuGraphicsUnmapResources cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource
    cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate cuGreenCtxWaitEvent cuImportExternalMemory
    cuImportExternalSemaphore cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle
    cuIpcOpenMemHandle_v2 cuKernelGetAttribute cuKernelGetFunction cuKernelGetLibrary cuKernelGetName
    cuKernelGetParamCount cuKernelGetParamInfo cuKernelSetAttribute cuKernelSetCacheConfig cuLaunch
    cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync cuLibraryEnumerateKernels cuLibraryGetGlobal
    cuLibraryGetKernel cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction
    cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete
    cuLinkCreate_v2 cuLinkDestroy cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem
    cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport cuLogicalEndpointGetLimits
    cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve cuLogicalEndpointImport cuLogicalEndpointQuery
    cuLogicalEndpointUnbind cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback
    cuLogsUnregisterCallback cuMemAddressFree cuMemAddressReserve cuMemBatchDecompressAsync cuMemCreate
    cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync cuMemExportToShareableHandle cuMemGetAccess
    cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool
    cuMemGetHandleForAddressRange cuMemGetLocationInfo cuMemGetMemPool cuMemImportFromShareableHandle cuMemMap
    cuMemMapArrayAsync cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
    cuMemPoolImportPointer cuMemPrefetchBatchAsync cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess
    cuMemSetMemPool cuMemUnmap cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_v2 cuMemcpy3DWithAttributesAsync
    cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyBatchAsync cuMemcpyDtoA_v2
    cuMemcpyHtoAAsync_v2 cuMemcpyHtoA_v2 cuMemcpyWithAttributesAsync cuMipmappedArrayCreate cuMipmappedArrayDestroy
    cuMipmappedArrayGetLevel cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties
    cuModuleGetSurfRef cuModuleGetTexRef cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindAddr_v2
    cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind
    cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize cuParamSetSize cuParamSetTexRef cuParamSetf
    cuParamSeti cuParamSetv cuSignalExternalSemaphoresAsync cuStreamBatchMemOp cuStreamBatchMemOp_v2
    cuStreamBeginCaptureToCig cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2 cuStreamBeginRecaptureToGraph
    cuStreamCopyAttributes cuStreamEndCapture cuStreamEndCaptureToCig cuStreamGetAttribute cuStreamGetDevResource
    cuStreamGetGreenCtx cuStreamSetAttribute cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2
    cuStreamWaitValue32 cuStreamWaitValue32_v2 cuStreamWaitValue64 cuStreamWaitValue64_v2 cuSurfObjectCreate
    cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray cuTensorMapEncodeIm2col
    cuTensorMapEncodeIm2colWide cuTensorMapEncodeTiled cuTensorMapReplaceAddress cuTexObjectCreate cuTexObjectDestroy
    cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefCreate
    cuTexRefDestroy cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray cuTexRefGetBorderColor
    cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode
    cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress2D_v3
    cuTexRefSetAddressMode cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor cuTexRefSetFilterMode
    cuTexRefSetFlags cuTexRefSetFormat cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode
    cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray cuUserObjectCreate
    cuUserObjectRelease cuUserObjectRetain cuWaitExternalSemaphoresAsync
}
