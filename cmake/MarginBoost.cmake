# margin_boost: the headers of Boost 1.81 (Asio, Beast) that scripts/setup.sh unpacks. Debian's installed Boost is 1.74, never used here
# (docs/decisions/0004). Their non-template code is compiled once, in src/http/boost_source.cc.
set(MARGIN_BOOST_INCLUDE ${PROJECT_SOURCE_DIR}/build/boost-1.81/usr/include CACHE PATH "Folder that holds boost/version.hpp, 1.81 or newer")
set(boost_version 0)
if(EXISTS ${MARGIN_BOOST_INCLUDE}/boost/version.hpp)
  file(STRINGS ${MARGIN_BOOST_INCLUDE}/boost/version.hpp boost_version REGEX "#define BOOST_VERSION ")
  string(REGEX REPLACE ".* ([0-9]+).*" "\\1" boost_version "${boost_version}")
endif()
if(boost_version LESS 108100)
  message(FATAL_ERROR "Boost 1.81 is not in ${MARGIN_BOOST_INCLUDE}: run scripts/setup.sh build once, "
          "or name another folder with -DMARGIN_BOOST_INCLUDE=...")
endif()

add_library(margin_boost INTERFACE)
target_include_directories(margin_boost SYSTEM INTERFACE ${MARGIN_BOOST_INCLUDE})
target_compile_definitions(margin_boost INTERFACE
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ALL_NO_LIB BOOST_ERROR_CODE_HEADER_ONLY BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_DISABLE_BOOST_REGEX)
target_link_libraries(margin_boost INTERFACE Threads::Threads)
if(MARGIN_SANITIZE MATCHES thread)
  # The thread sanitizer does not know fences, and g++ says so; the loop's mutex orders everything without them.
  target_compile_definitions(margin_boost INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
endif()
