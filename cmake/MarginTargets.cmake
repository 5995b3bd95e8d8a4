# How this project's targets are made: flags, layers, tests.

include(GNUInstallDirs)

# The flags every target of this project is built with; not passed on to users of the library.
# -ffp-contract=off: a fused multiply-add rounds once where two operations round twice, so it would give other bits on other machines.
add_library(margin_flags INTERFACE)
target_compile_options(margin_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wno-missing-field-initializers  # designated initializers leave fields at their stated defaults
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # g++ 12 warns of overlaps inside std::string's operator+ that do not exist (GCC bug 105651)
  -Werror -ffp-contract=off)
if(CMAKE_UNITY_BUILD)
  # Where a .cc is included by another, g++ takes its anonymous namespace for a header's.
  target_compile_options(margin_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
if(MARGIN_SANITIZE)
  # Instrumented code makes g++ 12 see uninitialised values in temporaries of std::vector and std::variant; the plain builds keep the warning.
  # Without vptr: that check opens a pipe to see whether memory can be read, and takes a process without free descriptors for a wrong one.
  target_compile_options(margin_flags INTERFACE -fsanitize=${MARGIN_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all -fno-omit-frame-pointer
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(margin_flags INTERFACE -fsanitize=${MARGIN_SANITIZE})
endif()

# margin_layer(NAME [PURE] [SEPARATE] [USES layer ...] [HEADERS header ...] [LIBRARIES library ...]): the target margin_NAME of the folder
# src/NAME. PURE: part of the library `margin`; sees no clock, thread or file. HEADERS: public headers of this layer that have no .cc of their
# name. SEPARATE: its files use the same names for their own things, so that no two are compiled as one where CMAKE_UNITY_BUILD is on.
# Every .cc of the folder that is not a test belongs to it, so a new calibrator or vote is one new file.
function(margin_layer name)
  cmake_parse_arguments(ARG "PURE;SEPARATE" "" "USES;HEADERS;LIBRARIES" ${ARGN})
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
  if(ARG_SEPARATE)
    set_target_properties(margin_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(ARG_PURE)
    set_property(GLOBAL APPEND PROPERTY MARGIN_PURE_LAYERS ${name})
  endif()
endfunction()

# margin_protobuf(LAYER FILE): the messages of src/LAYER/FILE, for that layer alone. Generated code is not held to our warnings.
function(margin_protobuf layer file)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${layer}_messages)
  get_filename_component(stem ${file} NAME_WE)
  set(generated ${folder}/${stem}.pb.cc ${folder}/${stem}.pb.h)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${generated} DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${layer}/${file}
    COMMAND protobuf::protoc --cpp_out=${folder} --proto_path=${CMAKE_CURRENT_SOURCE_DIR}/${layer} ${file} VERBATIM)
  set_source_files_properties(${folder}/${stem}.pb.cc PROPERTIES COMPILE_OPTIONS -w SKIP_LINTING ON)
  target_sources(margin_${layer} PRIVATE ${generated})
  target_include_directories(margin_${layer} SYSTEM PRIVATE ${folder})
endfunction()

# margin_test(NAME LABELS label ... SOURCES file ... [LAYERS layer ...] [LIBRARIES library ...] [ENVIRONMENT NAME=value]): a GoogleTest
# program, each of its tests a ctest.
function(margin_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT;ENVIRONMENT" "LABELS;SOURCES;LAYERS;LIBRARIES" ${ARGN})
  margin_program(${name} SOURCES ${ARG_SOURCES} LAYERS ${ARG_LAYERS} LIBRARIES ${ARG_LIBRARIES} GTest::gtest_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}")
endfunction()

# margin_program(NAME SOURCES file ... [LAYERS layer ...] [LIBRARIES library ...]): a program of the tests or benchmarks, linked with the
# objects of the named layers (all pure ones, the library `margin`, when none is named).
function(margin_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LAYERS;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  foreach(layer IN LISTS ARG_LAYERS)
    target_link_libraries(${name} PRIVATE margin_${layer})
  endforeach()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE margin_flags margin ${ARG_LIBRARIES})
endfunction()

# margin_left_out("what: why"): a test that this build does not have; test.sh says so.
function(margin_left_out text)
  set_property(GLOBAL APPEND PROPERTY MARGIN_LEFT_OUT ${text})
endfunction()
