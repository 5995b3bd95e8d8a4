// What jemalloc, which the program is linked with (src/CMakeLists.txt), reads when it starts: room that is no longer used goes back to the
// system also from the arenas of threads that sleep, such as the one that folds a state again after a revert; and of small blocks
// a thread keeps as many at hand as decisions wait for their commit under load, and of large ones (to 256 KiB) a few, such as a row on its
// way into the store, which else the system would make anew page by page.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "background_thread:true,tcache_nslots_small_min:128,lg_tcache_max:18,tcache_nslots_large:4";
}
