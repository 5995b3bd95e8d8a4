# How this project's targets are made: flags, layers, tests.

include(GNUInstallDirs)

# The flags every target of this project is built with; not passed on to users of the library.
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, so it would give other bits on other machines.
add_library(margin_flags INTERFACE)
target_compile_options(margin_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Werror -ffp-contract=off)
if(MARGIN_SANITIZE)
  target_compile_options(margin_flags INTERFACE -fsanitize=${MARGIN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(margin_flags INTERFACE -fsanitize=${MARGIN_SANITIZE})
endif()

# margin_layer(NAME USES a b ... [SOURCES ...] [PRIVATE_LIBRARIES ...]): the target margin_NAME of the folder src/NAME.
# Without SOURCES every .cc of the folder that is not a test belongs to it, so a new calibrator or vote is one new file.
function(margin_layer name)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_library(margin_${name} OBJECT ${sources})
  target_include_directories(margin_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(margin_${name} PRIVATE margin_flags)
  foreach(layer IN LISTS ARG_USES)
    target_link_libraries(margin_${name} PUBLIC margin_${layer})
  endforeach()
  target_link_libraries(margin_${name} PRIVATE ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY MARGIN_LAYERS ${name})
  set_property(GLOBAL PROPERTY MARGIN_LAYER_USES_${name} ${ARG_USES})
endfunction()
