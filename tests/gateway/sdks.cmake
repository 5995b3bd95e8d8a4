# The official SDKs, unmodified, for the tests that use them: installed once into build/sdk, again when the list of versions changes. Where the
# registries cannot be reached, MARGIN_SDK_PYTHON or MARGIN_SDK_NODE is empty.

# install_sdk(FOLDER LIST COMMAND ...): runs the commands unless FOLDER holds what LIST names; sets `installed`.
function(install_sdk folder list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(SHA256 ${list} wanted)
  set(present "")
  if(EXISTS ${folder}/.margin-installed)
    file(READ ${folder}/.margin-installed present)
  endif()
  if(NOT present STREQUAL wanted)
    message(STATUS "Installing into ${folder}")
    file(MAKE_DIRECTORY ${folder})
    execute_process(${ARGN} WORKING_DIRECTORY ${folder} RESULTS_VARIABLE results OUTPUT_QUIET ERROR_VARIABLE said TIMEOUT 300)
    if(NOT results MATCHES "^[0;]+$")
      string(SUBSTRING "${said}" 0 400 said)
      message(STATUS "That failed: ${said}")
      set(installed FALSE PARENT_SCOPE)
      return()
    endif()
    file(WRITE ${folder}/.margin-installed ${wanted})
  endif()
  set(installed TRUE PARENT_SCOPE)
endfunction()

set(MARGIN_SDK_PYTHON "")
set(MARGIN_SDK_NODE "")
set(folder ${PROJECT_SOURCE_DIR}/build/sdk/python)
set(list ${CMAKE_CURRENT_LIST_DIR}/requirements.txt)
install_sdk(${folder} ${list}
  COMMAND sh -c "\"$0\" -m venv . && bin/pip install --quiet --disable-pip-version-check --timeout 10 --retries 1 -r \"$1\"" ${Python3_EXECUTABLE} ${list})
if(installed)
  set(MARGIN_SDK_PYTHON ${folder}/bin/python)
endif()

find_program(MARGIN_NODE NAMES node nodejs)
find_program(MARGIN_NPM npm)
if(MARGIN_NODE AND MARGIN_NPM)
  set(folder ${PROJECT_SOURCE_DIR}/build/sdk/node)
  set(list ${CMAKE_CURRENT_LIST_DIR}/node/package-lock.json)
  install_sdk(${folder} ${list}
    COMMAND sh -c "cp \"$1\"/package*.json . && \"$0\" ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1" ${MARGIN_NPM}
            ${CMAKE_CURRENT_LIST_DIR}/node)
  if(installed)
    set(MARGIN_SDK_NODE ${folder})
  endif()
endif()
