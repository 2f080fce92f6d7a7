package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// bashWords replaces the one function of the package bash-completion that the script needs, if
// that package is not installed. It splits the line like bash, but not at = and :.
const bashWords = `
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
_get_comp_words_by_ref()
{
    local i w joined=0
    words=() cword=0
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        w="${COMP_WORDS[i]}"
        if ((i > 0)) && [[ $joined -eq 1 || $w == [=:]* ]] && ((${#words[@]} > 1)); then
            words[${#words[@]} - 1]+="$w"
        else
            words+=("$w")
        fi
        joined=0
        [[ $w == *[=:] ]] && joined=1
        ((i == COMP_CWORD)) && cword=$((${#words[@]} - 1))
    done
    cur="${words[cword]}" prev=""
    ((cword > 0)) && prev="${words[cword - 1]}"
    return 0
}
fi
`

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print what makes a shell complete commands, flags and ids",
		Example: "  source <(company completion bash)\n  company completion fish | source",
		Long: `Prints a script for the shell. Put "source <(company completion bash)" into
~/.bashrc to have it in every shell. Ids of tasks, runs, questions, projects and
pull requests are those of the office that one stands in, asked of the company
at work where there is one; when that does not answer within a second, nothing
is completed.`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch out := cmd.OutOrStdout(); args[0] {
			case "bash":
				if _, err := fmt.Fprint(out, bashWords); err != nil {
					return err
				}
				return cmd.Root().GenBashCompletionV2(out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(out)
			default:
				return cmd.Root().GenFishCompletion(out, true)
			}
		},
	}
}
