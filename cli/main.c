/* The program: one subcommand each for what it can do. */
#include "cli/check_config.h"
#include "cli/play/command.h"
#include "cli/recheck/command.h"
#include "cli/simulate/command.h"
#include "cli/token.h"
#include "service/options/values.h"
#include "service/serve.h"
#include "service/system/version.h"
#include "service/watch/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FINE = 0, WRONG_USAGE = 2 };

extern char **environ;

/* Each line of what is wrong, after the name of the command. */
static void put_faults(const char *command, char *faults)
{
    char *rest = NULL;
    for (char *line = strtok_r(faults, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "hindsight %s: %s\n", command, line);
}

static int serve(int argc, char **argv)
{
    struct hs_options_input input = {argc, argv, environ};
    struct hs_options options;
    char faults[HS_OPTIONS_FAULTS_MAX];
    enum hs_options_result result = hs_options_read(&input, &options, faults);
    if (result == HS_OPTIONS_HELP) {
        puts("usage: hindsight serve [--config FILE] [OPTION]...\n\n"
             "Serves until SIGTERM; on SIGHUP takes rulesets, tokens and log level anew. What is\n"
             "given later wins: the defaults below, FILE (a JSON object; max_matches for "
             "--max-matches),\n"
             "the environment (HINDSIGHT_MAX_MATCHES; HINDSIGHT_CONFIG for --config), the command\n"
             "line. `hindsight check-config FILE` shows what comes of it.\n");
        hs_options_help(stdout);
        return FINE;
    }
    if (result == HS_OPTIONS_WRONG) {
        put_faults("serve", faults);
        return WRONG_USAGE;
    }
    enum hs_log_level level = HS_LOG_INFO;
    if (hs_log_level_parse(options.log_level, &level))
        hs_log_set_level(level);
    return hs_serve(&options, &input);
}

static int check_config(int argc, char **argv)
{
    static const char usage[] =
        "usage: hindsight check-config FILE [OPTION]...\n\n"
        "Checks a configuration of `hindsight serve`, and each ruleset in the directory it names:\n"
        "what FILE, the environment and the options of `hindsight serve` make together. Prints\n"
        "every value with where it is from, then ok; or a line for every problem, with the JSON\n"
        "pointer to it. A FILE that has a \"name\" is a ruleset, and checked as one.\n"
        "Warnings about rulesets go to standard error and do not change the exit code.\n";
    bool wrong = argc < 2 || argv[1][0] == '-';
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0) {
            fputs(usage, stdout);
            return FINE;
        }
        wrong |= strncmp(argv[at], "--config", 8) == 0;
    }
    if (wrong) {
        fputs(usage, stderr);
        return WRONG_USAGE;
    }
    return hs_check_config(argc, argv, environ, stdout);
}

/* The list of options as the documentation has it; scripts/docs.sh puts it there. */
static int list_options(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "markdown") == 0)
        hs_options_write_markdown(stdout);
    else if (argc == 2 && strcmp(argv[1], "man") == 0)
        hs_options_write_man(stdout);
    else {
        fputs("usage: hindsight list-options markdown|man\n", stderr);
        return WRONG_USAGE;
    }
    return FINE;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
    const char *help;
} commands[] = {
    {"serve", serve, "run the service"},
    {"check-config", check_config, "check a configuration and its rulesets, or one ruleset"},
    {"token", hs_token_main, "make a token for a caller of the service"},
    {"play", hs_play_main, "play a recording against a running service"},
    {"recheck", hs_recheck_main,
     "compute the verdicts of recorded requests again, also by other rules"},
    {"demo", hs_demo_main, "play the built-in match against a service started for it"},
    {"simulate", hs_simulate_main,
     "simulate players and networks, and count right and wrong verdicts"},
    {"list-options", list_options, NULL}, /* for the build */
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
    fputs("\n  --help         this text; `hindsight COMMAND --help` tells more\n"
          "  --version      the version\n\n"
          "Exit codes: 0 fine, 1 failed, 2 wrong usage.\n",
          to);
}

/* A closed standard stream would give its number to a socket, and that would get the log. */
static void open_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
            _exit(1);
}

int main(int argc, char **argv)
{
    open_standard_streams();
    signal(SIGPIPE, SIG_IGN);
    if (argc < 2) {
        help(stderr);
        return WRONG_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return FINE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("hindsight " HS_VERSION);
        return FINE;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    fprintf(stderr, "hindsight: there is no command %.100s; see hindsight --help\n", argv[1]);
    return WRONG_USAGE;
}
