# The dashboard (dashboard/) as part of the program: npm ci when package-lock.json has changed, Vite when a source has. Where that cannot be
# (no Node, no registry), the program gets a page that says so, and MARGIN_DASHBOARD_ABSENT says why.

option(MARGIN_DASHBOARD "Build the dashboard into the binary: needs Node 18 or newer, npm and its registry" ON)

# Sets MARGIN_DASHBOARD_ABSENT: empty when the dashboard can be built.
function(margin_find_dashboard)
  set(MARGIN_DASHBOARD_ABSENT "" PARENT_SCOPE)
  if(NOT MARGIN_DASHBOARD OR MARGIN_SANITIZE)
    set(MARGIN_DASHBOARD_ABSENT "it was switched off" PARENT_SCOPE)
    return()
  endif()
  find_program(MARGIN_NODE NAMES node nodejs)
  find_program(MARGIN_NPM npm)
  if(NOT MARGIN_NODE OR NOT MARGIN_NPM)
    set(MARGIN_DASHBOARD_ABSENT "there was no Node or no npm" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND ${MARGIN_NODE} --version OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT version MATCHES "^v([0-9]+)" OR CMAKE_MATCH_1 LESS 18)
    set(MARGIN_DASHBOARD_ABSENT "Node was ${version}, and 18 is needed" PARENT_SCOPE)
    return()
  endif()

  set(folder ${PROJECT_SOURCE_DIR}/dashboard)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/package-lock.json)
  file(SHA256 ${folder}/package-lock.json wanted)
  set(stamp ${folder}/node_modules/.margin-installed)
  set(installed "")
  if(EXISTS ${stamp})
    file(READ ${stamp} installed)
  endif()
  if(NOT installed STREQUAL wanted)
    message(STATUS "Dashboard: npm ci")
    # Nothing that is installed runs a script of its own.
    execute_process(COMMAND ${MARGIN_NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
                    WORKING_DIRECTORY ${folder} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said TIMEOUT 900)
    if(failed)
      string(SUBSTRING "${said}" 0 600 said)
      message(WARNING "npm ci failed, so there is no dashboard: ${said}")
      set(MARGIN_DASHBOARD_ABSENT "its packages could not be installed" PARENT_SCOPE)
      return()
    endif()
    file(WRITE ${stamp} ${wanted})
  endif()
endfunction()

# margin_add_dashboard(TARGET): gives the target the definition of dashboard_files().
function(margin_add_dashboard target)
  if(MARGIN_DASHBOARD_ABSENT)
    message(STATUS "Dashboard: none, ${MARGIN_DASHBOARD_ABSENT}")
    configure_file(${PROJECT_SOURCE_DIR}/src/server/dashboard_absent.cc.in dashboard_absent.cc @ONLY)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/dashboard_absent.cc)
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/dashboard)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/src/*.ts ${folder}/src/*.tsx ${folder}/src/*.css ${folder}/public/*)
  list(FILTER sources EXCLUDE REGEX "(\\.test\\.tsx?|/api/schema\\.ts)$")
  set(built ${CMAKE_CURRENT_BINARY_DIR}/dashboard)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/dashboard_files.cc)
  add_custom_command(OUTPUT ${generated}
    COMMAND ${MARGIN_NODE} node_modules/vite/bin/vite.js build --logLevel warn --outDir ${built} --emptyOutDir
    COMMAND ${MARGIN_NODE} scripts/embed.mjs ${built} ${generated}
    WORKING_DIRECTORY ${folder} COMMENT "Building the dashboard" VERBATIM
    DEPENDS ${sources} ${folder}/index.html ${folder}/vite.config.ts ${folder}/package-lock.json ${folder}/scripts/embed.mjs)
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -w SKIP_LINTING ON)
  target_sources(${target} PRIVATE ${generated})
endfunction()
