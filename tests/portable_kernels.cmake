# Read by CTest before it starts a test: what scripts start computes as the test programs do (portable_kernels.cpp).
if(NOT DEFINED ENV{DADSIM_KERNELS})
  set(ENV{DADSIM_KERNELS} portable)
endif()
