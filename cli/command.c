#include "cli/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validators/str.h"

enum { OPTIONS_MAX = 16, OPTION = 256 /* larger than every character code */ };

bool hs_argument_text(const struct hs_argument *argument, const char *text)
{
    *(const char **)argument->target = text;
    return true;
}

bool hs_argument_name(const struct hs_argument *argument, const char *text)
{
    return hs_name_is_valid(hs_str_of(text)) && hs_argument_text(argument, text);
}

bool hs_argument_whole(const struct hs_argument *argument, const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = *(uint64_t *)argument->target = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
           (double)value >= argument->min && (double)value <= argument->max;
}

bool hs_argument_real(const struct hs_argument *argument, const char *text)
{
    char *end;
    double value = *(double *)argument->target = strtod(text, &end);
    return end != text && *end == '\0' && value >= argument->min && value <= argument->max;
}

bool hs_argument_word(const struct hs_argument *argument, const char *text)
{
    int *index = argument->target;
    for (*index = (int)argument->min; *index <= (int)argument->max; ++*index)
        if (strcasecmp(argument->list[*index], text) == 0)
            return true;
    return false;
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

/* Prints which values the option accepts, and the refused value (`optarg`). */
static void wrong_value(const struct hs_command *command, const struct hs_argument *argument)
{
    char takes[96] = "one of the values in its help";
    if (argument->parse == hs_argument_name)
        snprintf(takes, sizeof takes, "1 to %d of [A-Za-z0-9_.:-]", HS_NAME_MAX);
    else if (argument->parse == hs_argument_whole || argument->parse == hs_argument_real)
        snprintf(takes, sizeof takes, "a%s number from %.10g to %.10g",
                 argument->parse == hs_argument_whole ? " whole" : "", argument->min,
                 argument->max);
    hs_command_wrong(command, "--%s takes %s, not %s", argument->name, takes, optarg);
}

bool hs_command_read(const struct hs_command *command, const struct hs_argument *arguments,
                     int argc, char **argv, const char **operand, int *code)
{
    struct option list[OPTIONS_MAX + 2] = {{"help", no_argument, NULL, 'h'}};
    int found, at;
    for (int i = 0; i < OPTIONS_MAX && arguments[i].name != NULL; i++)
        list[i + 1] = (struct option){arguments[i].name,
                                      arguments[i].parse != NULL ? required_argument : no_argument,
                                      NULL, OPTION};
    *code = HS_EXIT_USAGE;
    optind = 0; /* makes getopt_long start again from the first argument */
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":h", list, &at)) == OPTION) {
        const struct hs_argument *argument = &arguments[at - 1];
        if (argument->parse == NULL) {
            *(bool *)argument->target = true;
        } else if (!argument->parse(argument, optarg)) {
            wrong_value(command, argument);
            return false;
        }
    }
    if (found == 'h') {
        fputs(command->help, stdout);
        *code = HS_EXIT_FINE;
    } else if (found == '?' && optopt > 0 && optopt < OPTION) {
        hs_command_wrong(command, "there is no such option: -%c", optopt);
    } else if (found != -1) {
        hs_command_wrong(command, "%s: %s",
                         found == ':' ? "an option needs a value" : "there is no such option",
                         argv[optind - 1]);
    } else if (optind + (operand != NULL) != argc) {
        hs_command_wrong(command, "takes options and %s",
                         operand != NULL ? command->operand : "nothing else");
    } else {
        if (operand != NULL)
            *operand = argv[optind];
        return true;
    }
    return false;
}
