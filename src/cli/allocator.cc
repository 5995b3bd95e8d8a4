// What jemalloc, which the program is linked with (src/CMakeLists.txt), reads when it starts: room that is no longer used goes back to the
// system also from the arenas of threads that sleep, such as the one that folds a state again after a revert.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true";
}
