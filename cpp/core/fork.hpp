// Work to be done in a child process after fork(); on Windows processes do not fork.
#pragma once

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace kinodyn {

inline void call_in_forked_child(void (*function)()) {
#if defined(_WIN32)
    static_cast<void>(function);
#else
    pthread_atfork(nullptr, nullptr, function);
#endif
}

}  // namespace kinodyn
