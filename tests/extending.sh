#!/bin/sh
# Applies the blocks of docs/extending.md to a copy of the tree.
#     sh tests/extending.sh PAGE TREE
# The line before a block says where the block goes: "`FILE`, below `LINE`:" (or "above", or "in
# place of") or "`FILE`, a new file:". LINE is a line of the file without its indentation, or a part
# of a line, and must be in the file exactly once.
set -eu
page=$1
tree=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# Inserts WORK/block at its place in the file.
apply() {
    if [ "$place" = new ]; then
        [ ! -e "$tree/$file" ] || fail "$file exists"
        cat "$work/block" >"$tree/$file"
        return
    fi
    [ -e "$tree/$file" ] || fail "no file $file"
    BLOCK=$work/block PLACE=$place LINE=$line awk '
        function bare(text) {
            sub(/^ +/, "", text)
            sub(/ *\\?$/, "", text)
            return text
        }
        BEGIN {
            while ((getline row <ENVIRON["BLOCK"]) > 0)
                block = block row "\n"
        }
        { text[++count] = $0 }
        bare($0) == ENVIRON["LINE"] { whole = count; wholes++ }
        index($0, ENVIRON["LINE"]) { part = count; parts++ }
        END {
            found = wholes > 0 ? whole : part
            if ((wholes > 0 ? wholes : parts) != 1)
                exit 1
            for (i = 1; i <= count; i++) {
                if (i == found && ENVIRON["PLACE"] == "above")
                    printf "%s", block
                if (i != found || ENVIRON["PLACE"] != "in place of")
                    print text[i]
                if (i == found && ENVIRON["PLACE"] != "above")
                    printf "%s", block
            }
        }' "$tree/$file" >"$work/result" || fail "not once in $file: $line"
    cat "$work/result" >"$tree/$file"
}

count=0 place='' inside=no
while IFS= read -r text; do
    if [ "$inside" = yes ]; then
        case $text in
            '```')
                apply
                inside=no place='' count=$((count + 1))
                ;;
            *) printf '%s\n' "$text" >>"$work/block" ;;
        esac
        continue
    fi
    # shellcheck disable=SC2016 # backquotes of the page, no commands
    case $text in
        '`'*'`, a new file:') place=new line='' ;;
        '`'*'`, below `'*'`:') place=below line=${text#*, below \`} ;;
        '`'*'`, above `'*'`:') place=above line=${text#*, above \`} ;;
        '`'*'`, in place of `'*'`:') place='in place of' line=${text#*, in place of \`} ;;
        '```'*)
            [ -z "$place" ] || inside=yes
            : >"$work/block"
            continue
            ;;
        *) continue ;;
    esac
    file=${text#\`} file=${file%%\`*} line=${line%\`:}
done <"$page"
[ "$inside" = no ] || fail 'a block has no end'
echo "$count blocks applied"
