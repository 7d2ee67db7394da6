#include "cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validators/str.h"

enum { OPTIONS_MAX = 16, FIRST_OPTION = 256 /* beyond every character */ };

bool hs_argument_text(const char *text, const struct hs_argument *option)
{
    *(const char **)option->out = text;
    return true;
}

bool hs_argument_name(const char *text, const struct hs_argument *option)
{
    return hs_name_is_valid(hs_str_of(text)) && hs_argument_text(text, option);
}

bool hs_argument_whole(const char *text, const struct hs_argument *option)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        (double)value < option->min || (double)value > option->max)
        return false;
    *(uint64_t *)option->out = value;
    return true;
}

bool hs_argument_real(const char *text, const struct hs_argument *option)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= option->min && value <= option->max))
        return false;
    *(double *)option->out = value;
    return true;
}

int hs_command_wrong(const struct hs_command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "hindsight %s: ", command->name);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nTry: hindsight %s --help\n", command->name);
    va_end(arguments);
    return HS_EXIT_USAGE;
}

static bool read_option(const struct hs_command *command, const struct hs_argument *option)
{
    if (option->parse == NULL)
        *(bool *)option->out = true;
    else if (!option->parse(optarg, option)) {
        hs_command_wrong(command, "--%s takes %s, not %s", option->name, option->takes, optarg);
        return false;
    }
    return true;
}

bool hs_command_read(const struct hs_command *command, const struct hs_argument *options,
                     size_t count, int argc, char **argv, const char **operand, int *code)
{
    struct option list[OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
    int found;
    for (size_t i = 0; i < count && i < OPTIONS_MAX; i++)
        list[i + 1] = (struct option){options[i].name,
                                      options[i].parse != NULL ? required_argument : no_argument,
                                      NULL, FIRST_OPTION + (int)i};
    *code = HS_EXIT_USAGE;
    optind = 0; /* getopt_long starts again */
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", list, NULL)) >= FIRST_OPTION)
        if (!read_option(command, &options[found - FIRST_OPTION]))
            return false;
    if (found == 'h') {
        fputs(command->help, stdout);
        *code = HS_EXIT_FINE;
    } else if (found != -1) {
        hs_command_wrong(command, "%s: %s",
                         found == ':' ? "an option needs a value" : "there is no such option",
                         argv[optind - 1]);
    } else if (optind + (command->operand != NULL) != argc) {
        hs_command_wrong(command, "takes options and %s",
                         command->operand != NULL ? command->operand : "nothing else");
    } else {
        *operand = argv[optind];
        return true;
    }
    return false;
}
