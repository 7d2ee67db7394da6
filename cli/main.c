/* The entry point: runs the subcommand that the command line names. */
#include "cli/command.h"
#include "service/options/values.h"
#include "service/serve.h"
#include "service/system/version.h"
#include "service/watch/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

/* jemalloc reads its options from this string. The string limits jemalloc to one arena, which
   exists from the start. With more arenas, jemalloc 5.3 creates an arena when a thread first needs
   the arena. If there is no memory for the arena, jemalloc crashes the thread. */
extern const char *malloc_conf;
const char *malloc_conf = "narenas:1";

static int serve(int argc, char **argv)
{
    struct hs_options_input input = {argc, argv, environ};
    struct hs_options options;
    char faults[HS_OPTIONS_FAULTS_MAX], *rest = NULL;
    enum hs_options_result result = hs_options_read(&input, &options, faults);
    if (result == HS_OPTIONS_HELP) {
        puts("usage: hindsight serve [--config FILE] [OPTION]...\n\n"
             "Runs until SIGTERM. SIGHUP reloads rulesets, tokens and log level.\n\n"
             "The command line overrides the environment, the environment overrides FILE, and\n"
             "FILE overrides the defaults below. FILE is a JSON object. For example,\n"
             "--max-matches is HINDSIGHT_MAX_MATCHES in the environment and max_matches in FILE.\n"
             "HINDSIGHT_CONFIG names FILE, like --config. `hindsight check-config FILE` prints\n"
             "the combined values.\n");
        hs_options_help(stdout);
        return HS_EXIT_FINE;
    }
    if (result == HS_OPTIONS_WRONG) {
        for (char *line = strtok_r(faults, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest))
            fprintf(stderr, "hindsight serve: %s\n", line);
        return HS_EXIT_USAGE;
    }
    enum hs_log_level level = HS_LOG_INFO;
    if (hs_log_level_parse(options.log_level, &level))
        hs_log_set_level(level);
    return hs_serve(&options, &input);
}

/* Prints the list of options. scripts/docs.sh inserts this list into the documentation. */
static int list_options(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "markdown") == 0)
        hs_options_write_markdown(stdout);
    else if (argc == 2 && strcmp(argv[1], "man") == 0)
        hs_options_write_man(stdout);
    else {
        fputs("usage: hindsight list-options markdown|man\n", stderr);
        return HS_EXIT_USAGE;
    }
    return HS_EXIT_FINE;
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name of the subcommand */
    const char *help;
} commands[] = {
    {"serve", serve, "run the service"},
    {"check-config", hs_check_config_main,
     "check a configuration and its rulesets, or one ruleset"},
    {"token", hs_token_main, "make a token for a caller of the service"},
    {"play", hs_play_main, "play a recording against a running service"},
    {"recheck", hs_recheck_main,
     "compute the verdicts of recorded requests again, also under other rules"},
    {"show", hs_show_main, "draw a stored verdict and list its checks"},
    {"demo", hs_demo_main, "play the built-in match against a private service"},
    {"simulate", hs_simulate_main,
     "simulate players and networks, and count right and wrong verdicts"},
    {"list-options", list_options, NULL}, /* for `make docs` */
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void help(FILE *to)
{
    fputs("usage: hindsight COMMAND [ARGUMENT]...\n\n"
          "Verifies hit claims of game clients against the game server's own history.\n\n",
          to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].help != NULL)
            fprintf(to, "  %-14s %s\n", commands[i].name, commands[i].help);
    fputs("\n  --help         this text; `hindsight COMMAND --help` describes a command\n"
          "  --version      the version\n\n"
          "Exit codes: 0 fine, 1 failed, 2 usage error.\n",
          to);
}

/* Opens /dev/null for each closed standard stream. Otherwise a socket could get file descriptor 2,
   and the log would be written to the socket. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(1);
}

/* Returns the exit code of a command. If the output of a command could not be written, the command
   has failed. `serve` is an exception. The output of `serve` is only one line, which is also in the
   log. */
static int finish(const struct command *command, int code)
{
    bool is_written = fflush(stdout) == 0 && !ferror(stdout);
    if (code != HS_EXIT_FINE || is_written || command->run == serve)
        return code;
    fputs("hindsight: the output cannot be written\n", stderr);
    return HS_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    open_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        help(stderr);
        return HS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return HS_EXIT_FINE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("hindsight " HS_VERSION);
        return HS_EXIT_FINE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return finish(&commands[i], commands[i].run(argc - 1, argv + 1));
    fprintf(stderr, "hindsight: there is no command %.100s; see hindsight --help\n", argv[1]);
    return HS_EXIT_USAGE;
}
