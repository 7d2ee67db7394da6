/* The subcommands of the program, and what their command lines have in common. */
#ifndef HS_CLI_COMMAND_H
#define HS_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HS_EXIT_FINE = 0, HS_EXIT_FAILED = 1, HS_EXIT_USAGE = 2 };

/* Each runs one subcommand and returns its exit code. argv[0] is the name of the subcommand. */
int hs_check_config_main(int argc, char **argv);
int hs_token_main(int argc, char **argv);
int hs_play_main(int argc, char **argv);
int hs_recheck_main(int argc, char **argv);
int hs_demo_main(int argc, char **argv);

struct hs_argument {
    const char *name; /* without the dashes */
    /* Stores a value in *out; false: the value is wrong. NULL: the option has no value, and sets
       the bool at `out`. */
    bool (*parse)(const char *text, const struct hs_argument *option);
    void *out;
    const char *takes; /* for the message about a wrong value: "a number, 0 or more" */
    double min, max;   /* of a number, inclusive */
};

struct hs_command {
    const char *name;    /* "play" */
    const char *help;    /* the whole text of --help */
    const char *operand; /* the argument that is not an option, "one FILE"; NULL: there is none */
};

/* The parsers of hs_argument: a text, a name (hs_name_is_valid), a uint64_t and a double. */
bool hs_argument_text(const char *text, const struct hs_argument *option);
bool hs_argument_name(const char *text, const struct hs_argument *option);
bool hs_argument_whole(const char *text, const struct hs_argument *option);
bool hs_argument_real(const char *text, const struct hs_argument *option);
#define HS_ARGUMENT_NAME_TAKES "1 to 64 of [A-Za-z0-9_.:-]"

/*
 * Reads the arguments of a command: at most 16 options, --help and the operand (*operand, NULL
 * without). True to go on; texts point into argv. False: the command ends with *code, and the help
 * or what is wrong has been printed.
 */
bool hs_command_read(const struct hs_command *command, const struct hs_argument *options,
                     size_t count, int argc, char **argv, const char **operand, int *code);

/* Prints a wrong use of the command and returns HS_EXIT_USAGE. */
int hs_command_wrong(const struct hs_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
