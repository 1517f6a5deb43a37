# CTest reads this file before it starts a test. It makes programs that scripts start use the portable kernels, like the
# test programs (portable_kernels.cpp).
if(NOT DEFINED ENV{DADSIM_KERNELS})
  set(ENV{DADSIM_KERNELS} portable)
endif()
