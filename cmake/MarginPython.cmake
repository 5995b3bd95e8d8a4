# MARGIN_PYTHON_MODULE: whether the Python module is built, and with which interpreter (Python_EXECUTABLE). Debian's own unless a wheel is
# being made: another python3 on the PATH would not see Debian's numpy and pytest.
set(MARGIN_PYTHON_MODULE OFF)
if(MARGIN_PYTHON STREQUAL AUTO AND (MARGIN_SANITIZE OR NOT PROJECT_IS_TOP_LEVEL))
  return()  # a sanitizer must be there before the interpreter starts
endif()
if(MARGIN_PYTHON)
  if(NOT SKBUILD AND NOT Python_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python QUIET COMPONENTS Interpreter Development.Module)
  find_package(pybind11 CONFIG QUIET)
  if(Python_FOUND AND pybind11_FOUND)
    set(MARGIN_PYTHON_MODULE ON)
  elseif(NOT MARGIN_PYTHON STREQUAL AUTO)
    message(FATAL_ERROR "MARGIN_PYTHON needs pybind11 and Python's headers: Debian's pybind11-dev and python3-dev")
  endif()
endif()
