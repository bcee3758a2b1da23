# SPDX-License-Identifier: GPL-3.0-or-later
# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_dbacl_text_global_optspecs
    string join \n h/help V/version
end

function __fish_dbacl_text_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_dbacl_text_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_dbacl_text_using_subcommand
    set -l cmd (__fish_dbacl_text_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -s V -l version -d 'Print version'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "train" -d 'Train a model on labelled documents'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "update" -d 'Learn more documents, of known or of new labels; the model must keep its documents'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "forget" -d 'Forget documents, as if they had never been learned; the model must keep its documents'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "merge" -d 'Make one model of several that keep their documents'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "predict" -d 'Print the most probable labels of each text'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "test" -d 'Tell how well a model classifies labelled documents'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "explain" -d 'Tell which words of a text speak for its label'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "info" -d 'Tell what a model was made of'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "quantize" -d 'Make a model smaller, at the price of a little accuracy'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "features" -d 'Print the features that speak most for each label'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "fasttext" -d 'Take fastText\'s commands: supervised, test, predict and predict-prob'
complete -c dbacl-text -n "__fish_dbacl_text_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l format -d 'The format of the documents, if neither name nor first line tells it' -r -f -a "tsv\t'Lines of a label, a tab and a text'
fasttext\t'Lines with one word that begins with `__label__`'
ndjson\t'JSON objects, one a line'
csv\t'Comma-separated values whose first row names the columns'
folder\t'A folder of folders, each called like the label of the files in it'
lines\t'Lines without labels'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l label-column -d 'The CSV column or JSON member with the label' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l text-column -d 'The CSV columns or JSON members with the text, separated by commas' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l label-separator -d 'What divides several labels in a column or field' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s o -l output -d 'The model\'s file, which is replaced if it is a model' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s e -l tokenizer -d 'How text is cut into words, in place of what the preset says' -r -f -a "word\t'Words of any language, by Unicode (the default)'
glyph\t'Characters of any language'
alpha\t'Runs of letters'
alnum\t'Runs of letters and digits'
graph\t'Runs of visible bytes'
char\t'Single visible bytes'
cef\t'Words with inner punctuation, amounts of money, addresses'
adp\t'Letters, digits and punctuation in runs of a kind'
cef2\t'Atoms of mail headers and addresses'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s w -l order -d 'Longest run of words that is learned, 1 to 7, in place of what the preset says' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s T -l type -d 'The kind of text' -r -f -a "text\t'Plain text'
html\t'HTML without its markup'
xml\t'XML without its markup'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s g -l regex -d 'Learn what a regular expression captures, in place of words; may be given several times' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l balance -d 'Let documents of rare labels cost more: the power of the share that a label lacks, 0 to 1' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l for -d 'What labels are chosen for' -r -f -a "accuracy\t'Most texts right (the default)'
macro-f1\t'The mean F1 of all labels: rare ones count as much as others'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l unlabelled -d 'Texts without labels, read as by predict: they are used if cross-validation says that they help' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l autotune -d 'Try one way to read texts after the other for N seconds, and keep the best by cross-validation' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l cost -d 'What a document on the wrong side costs; chosen unless it is given' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l start -d 'The share of ordinary weights that the fit starts from, 0 to 1; chosen unless it is given' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l block -d 'Fit so many documents at a time, for more than memory holds' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l memory -d 'With --block, the memory that may be used, such as 500M or 2G; it changes nothing else' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l features -d 'With --block, how many words or runs of words take part at most: those that are in most documents' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l keep -d 'Keep the documents in the model, for update, forget and merge'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l words -d 'Learn single words: small models'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l pairs -d 'Learn words and pairs of neighbouring words (the default for long texts)'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l chars -d 'Learn single words and runs of up to five characters'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l both -d 'Learn words, pairs and runs of up to five characters (the default for texts whose median has up to 100 words)'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s j -l case-sensitive -d 'Tell upper from lower case'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s S -l across-lines -d 'Runs of words go on across line ends'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l several -d 'Documents have several labels: JSON lists, several __label__ words, or what --label-separator divides; a document may have none'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l choose -d 'Try all settings of the fit, however long it takes'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -l no-contrast -d 'Do not prefer words that tell the labels apart'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s q -l quiet -d 'Say nothing but errors'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand train" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -l format -d 'The format of the documents, if neither name nor first line tells it' -r -f -a "tsv\t'Lines of a label, a tab and a text'
fasttext\t'Lines with one word that begins with `__label__`'
ndjson\t'JSON objects, one a line'
csv\t'Comma-separated values whose first row names the columns'
folder\t'A folder of folders, each called like the label of the files in it'
lines\t'Lines without labels'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -l label-column -d 'The CSV column or JSON member with the label' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -l text-column -d 'The CSV columns or JSON members with the text, separated by commas' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -l label-separator -d 'What divides several labels in a column or field' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -s o -l output -d 'The file for the changed model, in place of the model itself' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -s q -l quiet -d 'Say nothing but errors'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand update" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -l format -d 'The format of the documents, if neither name nor first line tells it' -r -f -a "tsv\t'Lines of a label, a tab and a text'
fasttext\t'Lines with one word that begins with `__label__`'
ndjson\t'JSON objects, one a line'
csv\t'Comma-separated values whose first row names the columns'
folder\t'A folder of folders, each called like the label of the files in it'
lines\t'Lines without labels'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -l label-column -d 'The CSV column or JSON member with the label' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -l text-column -d 'The CSV columns or JSON members with the text, separated by commas' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -l label-separator -d 'What divides several labels in a column or field' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -s o -l output -d 'The file for the changed model, in place of the model itself' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -s q -l quiet -d 'Say nothing but errors'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand forget" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand merge" -s o -l output -d 'The file for the new model' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand merge" -s q -l quiet -d 'Say nothing but errors'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand merge" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l files -d 'Files that are a text each; their names stand before the labels' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l id-column -d 'The CSV column or JSON member that names a text; it stands before the labels' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l input -d 'The format of the texts; labels are not looked at' -r -f -a "tsv\t'Lines of a label, a tab and a text'
fasttext\t'Lines with one word that begins with `__label__`'
ndjson\t'JSON objects, one a line'
csv\t'Comma-separated values whose first row names the columns'
folder\t'A folder of folders, each called like the label of the files in it'
lines\t'Lines without labels'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l text-column -d 'The CSV columns or JSON members with the text, separated by commas; else those that the model was trained on' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l threads -d 'How many threads judge; 0 for one a processor' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -s k -l labels -d 'How many labels are printed for each text: one, or those of the text where it may have several, unless K is given' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l at-least -d 'A text whose label is less probable than P is called \'unsure\'' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -l format -d 'How results are printed' -r -f -a "tsv\t'Label, tab, probability, for each of the labels, separated by tabs'
ndjson\t'A JSON object'
fasttext\t'`__label__NAME PROBABILITY`, as fastText prints it'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand predict" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -l format -d 'The format of the documents, if neither name nor first line tells it' -r -f -a "tsv\t'Lines of a label, a tab and a text'
fasttext\t'Lines with one word that begins with `__label__`'
ndjson\t'JSON objects, one a line'
csv\t'Comma-separated values whose first row names the columns'
folder\t'A folder of folders, each called like the label of the files in it'
lines\t'Lines without labels'"
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -l label-column -d 'The CSV column or JSON member with the label' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -l text-column -d 'The CSV columns or JSON members with the text, separated by commas' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -l label-separator -d 'What divides several labels in a column or field' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -l json -d 'Print a JSON object'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand explain" -s n -l words -d 'How many words are printed for each side' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand explain" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand info" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand quantize" -s o -l output -d 'The file for the smaller model' -r -F
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand quantize" -l bits -d 'Bits of a weight' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand quantize" -l size -d 'The largest size of the file, such as 500k or 4M: what matters least is left out' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand quantize" -s q -l quiet -d 'Say nothing but errors'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand quantize" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand features" -s n -l number -d 'How many features are printed for each label' -r
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand features" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand fasttext" -s h -l help -d 'Print help'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "train" -d 'Train a model on labelled documents'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "update" -d 'Learn more documents, of known or of new labels; the model must keep its documents'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "forget" -d 'Forget documents, as if they had never been learned; the model must keep its documents'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "merge" -d 'Make one model of several that keep their documents'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "predict" -d 'Print the most probable labels of each text'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "test" -d 'Tell how well a model classifies labelled documents'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "explain" -d 'Tell which words of a text speak for its label'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "info" -d 'Tell what a model was made of'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "quantize" -d 'Make a model smaller, at the price of a little accuracy'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "features" -d 'Print the features that speak most for each label'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "fasttext" -d 'Take fastText\'s commands: supervised, test, predict and predict-prob'
complete -c dbacl-text -n "__fish_dbacl_text_using_subcommand help; and not __fish_seen_subcommand_from train update forget merge predict test explain info quantize features fasttext help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
