/* Limits that the package and the GPU's interface have in common; read by C, C++ and CUDA. */
#ifndef KESTREL_SHARED_LIMITS_H
#define KESTREL_SHARED_LIMITS_H

/* The maximum number of axes of a grid of the `scanline` engine. */
#define KESTREL_SCANLINE_AXES 6

#endif
