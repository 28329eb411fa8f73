# SPDX-License-Identifier: MIT
# fx2.ihx, the firmware of FX2LP analyzers, and its text within libcoeval; its logic for the host's tests.

set(fx2_dir ${CMAKE_CURRENT_LIST_DIR})
set(fx2_out ${CMAKE_BINARY_DIR}/firmware/apps/fx2)
set(fx2_logic bytes capture descriptors timer usb waveform)
set(fx2_units main chip control ${fx2_logic})
set(fx2_image ${fx2_out}/image.c)
find_program(SDCC sdcc)
file(MAKE_DIRECTORY ${fx2_out})

if(SDCC)
	file(GLOB fx2_headers CONFIGURE_DEPENDS ${fx2_dir}/*.h ${fx2_dir}/../../lib/wire/fx2_wire.h)
	set(fx2_objects)
	set(fx2_werror)
	if(COEVAL_WERROR)
		set(fx2_werror --Werror)
	endif()
	foreach(unit ${fx2_units})
		add_custom_command(OUTPUT ${fx2_out}/${unit}.rel
			COMMAND ${SDCC} -mmcs51 --std-c11 --model-large --opt-code-size
				${fx2_werror} -I${fx2_dir}/.. -I${fx2_dir}/../../lib -c ${fx2_dir}/${unit}.c -o ${fx2_out}/${unit}.rel
			DEPENDS ${fx2_dir}/${unit}.c ${fx2_headers}
			COMMENT "Building fx2/${unit}.rel with sdcc" VERBATIM)
		list(APPEND fx2_objects ${fx2_out}/${unit}.rel)
	endforeach()
	# The chip has 16 KiB at 0x0000 for both code and data (TRM, "Memory").
	add_custom_command(OUTPUT ${fx2_out}/fx2.ihx ${fx2_out}/fx2.map
		COMMAND ${SDCC} -mmcs51 --model-large --iram-size 256 --code-loc 0 --code-size 0x3000
			--xram-loc 0x3000 --xram-size 0x1000 -o ${fx2_out}/linked.ihx ${fx2_objects}
		COMMAND ${CMAKE_COMMAND} -DOUT=${fx2_out} -P ${fx2_dir}/fits.cmake
		DEPENDS ${fx2_objects} ${fx2_dir}/fits.cmake VERBATIM)
	add_custom_command(OUTPUT ${fx2_image}
		COMMAND ${CMAKE_COMMAND} -DIHX=${fx2_out}/fx2.ihx -DOUT=${fx2_image}
			-P ${fx2_dir}/embed.cmake
		DEPENDS ${fx2_out}/fx2.ihx ${fx2_dir}/embed.cmake VERBATIM)
	add_custom_target(fx2_firmware DEPENDS ${fx2_image})
	add_dependencies(coeval_static fx2_firmware)
	message(STATUS "FX2LP firmware: ${SDCC}")
else()
	add_custom_command(OUTPUT ${fx2_image}
		COMMAND ${CMAKE_COMMAND} -DOUT=${fx2_image} -P ${fx2_dir}/embed.cmake
		DEPENDS ${fx2_dir}/embed.cmake VERBATIM)
	message(STATUS "FX2LP firmware: no sdcc, so bare analyzers cannot be loaded")
endif()
target_sources(coeval_static PRIVATE ${fx2_image})

list(TRANSFORM fx2_logic PREPEND ${fx2_dir}/ OUTPUT_VARIABLE fx2_sources)
list(TRANSFORM fx2_sources APPEND .c)
foreach(target test_fx2_logic fuzz_fx2_requests)
	if(TARGET ${target})
		target_sources(${target} PRIVATE ${fx2_sources})
	endif()
endforeach()
if(TARGET test_fx2_image)
	target_compile_definitions(test_fx2_image PRIVATE FX2_IHX="${fx2_out}/fx2.ihx"
		FX2_MAP="${fx2_out}/fx2.map")
endif()
