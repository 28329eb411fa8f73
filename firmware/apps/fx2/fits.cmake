# SPDX-License-Identifier: MIT
# Fails unless what sdcc linked fits into the chip; then OUT/linked.* become OUT/fx2.*.
cmake_minimum_required(VERSION 3.25)

file(READ ${OUT}/linked.mem mem)

# What linked.mem says of a memory: bytes used, and how many there are.
function(size_of memory used of)
	if(NOT mem MATCHES "\n   ${memory} +(0x[0-9a-f]+ +0x[0-9a-f]+ +)?([0-9]+) +([0-9]+)")
		message(FATAL_ERROR "${OUT}/linked.mem does not tell the size of ${memory}")
	endif()
	if(CMAKE_MATCH_2 GREATER CMAKE_MATCH_3)
		message(FATAL_ERROR "fx2.ihx: ${memory}: ${CMAKE_MATCH_2} bytes do not fit in ${CMAKE_MATCH_3}")
	endif()
	set(${used} ${CMAKE_MATCH_2} PARENT_SCOPE)
	set(${of} ${CMAKE_MATCH_3} PARENT_SCOPE)
endfunction()

size_of("ROM/EPROM/FLASH" code code_of)
size_of("EXTERNAL RAM" xdata xdata_of)
if(NOT mem MATCHES "with ([0-9]+) bytes available")
	message(FATAL_ERROR "${OUT}/linked.mem does not tell the size of the stack")
endif()
set(stack ${CMAKE_MATCH_1})
if(stack LESS 100)
	message(FATAL_ERROR "fx2.ihx: ${stack} bytes are not enough for the stack")
endif()
math(EXPR iram "256 - ${stack}")

message("fx2.ihx: code ${code} of ${code_of} bytes, xdata ${xdata} of ${xdata_of}, iram ${iram} of 256, the rest is the stack")
file(RENAME ${OUT}/linked.map ${OUT}/fx2.map)
file(RENAME ${OUT}/linked.ihx ${OUT}/fx2.ihx)
