// Events are plain values; this file proves that the header stands alone.
#include "margin/event.h"
