// launch runs the build of an engine's program that suits this CPU.
//
// The image links dllama and dllama-api to this program. It replaces itself with
// FOLDER/VARIANT/PROGRAM, where PROGRAM is the name that it was called by, so that
// the engine keeps the process id and its supervisor sees no difference.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_ASIMDDP
#define HWCAP_ASIMDDP (1 << 20)
#endif
#endif

#ifndef FOLDER
#define FOLDER "/usr/local/libexec/distributed-llama"
#endif

// variant returns the name of the fastest build that this CPU runs, or null.
static const char *variant(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
    if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
    return NULL;
#elif defined(__aarch64__)
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? "armv8.2-a+dotprod" : "armv8-a";
#endif
}

int main(int argc, char **argv) {
    const char *chosen = variant();
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *program = slash ? slash + 1 : argc > 0 ? argv[0] : "";
    char path[512];
    if (chosen == NULL) {
        fprintf(stderr, "cannot run distributed-llama: this CPU is older than x86-64-v2\n");
        return 126;
    }
    int n = snprintf(path, sizeof path, "%s/%s/%s", FOLDER, chosen, program);
    if (n < 0 || (size_t)n >= sizeof path) {
        fprintf(stderr, "cannot run distributed-llama: the program's name is too long\n");
        return 126;
    }
    execv(path, argv);
    fprintf(stderr, "cannot run %s: %s\n", path, strerror(errno));
    return 127;
}
