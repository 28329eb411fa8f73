# SPDX-License-Identifier: MIT
# Writes OUT, a C source of the bytes of the file IHX (see src/capture/drivers/fx2/image.h); without IHX, of none.
cmake_minimum_required(VERSION 3.25)

set(bytes)
set(size 0)
if(IHX)
	file(READ ${IHX} bytes HEX)
	file(SIZE ${IHX} size)
	string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
	string(REPLACE "0x0a," "0x0a,\n" bytes "${bytes}")
else()
	set(bytes 0)
endif()
file(WRITE ${OUT} "#include \"capture/drivers/fx2/image.h\"\n\nconst unsigned char fx2_image[] = {\n${bytes}\n};\nconst size_t fx2_image_bytes = ${size};\n")
