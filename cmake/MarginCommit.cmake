# margin_find_commit(VARIABLE): the commit that is built, "unknown" outside a checkout. Looked for again when there is a new one.
function(margin_find_commit variable)
  set(commit unknown)
  find_program(MARGIN_GIT git)
  if(MARGIN_GIT)
    execute_process(COMMAND ${MARGIN_GIT} rev-parse --short=12 HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    execute_process(COMMAND ${MARGIN_GIT} rev-parse --git-path logs/HEAD WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                    OUTPUT_VARIABLE moves OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
      set(commit ${found})
      get_filename_component(moves "${moves}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
      if(EXISTS ${moves})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${moves})
      endif()
    endif()
  endif()
  set(${variable} ${commit} PARENT_SCOPE)
endfunction()
