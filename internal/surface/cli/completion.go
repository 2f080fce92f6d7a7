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
		Use: "completion bash|zsh|fish", Short: "Generate shell completion scripts",
		Example: "  source <(company completion bash)\n  company completion fish | source",
		Long: `Prints a completion script for bash, zsh or fish. To load it in every bash, add
"source <(company completion bash)" to ~/.bashrc. Ids of tasks, runs, questions,
projects and pull requests come from the office of the current directory. If a
running company does not answer within a second, no ids are offered.`,
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
