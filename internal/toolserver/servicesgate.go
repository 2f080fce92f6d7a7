package toolserver

import (
	"fmt"
	"strings"

	"company/internal/shell"
	"company/internal/toolproto"
)

// gateScript is what becomes of a gate's container that has services: the command,
// and behind its output, where it fails, the end of each service's log. The exit
// code stays the command's. The script is the first process, which no command can
// kill. A log is cut by bytes before it is cut by lines, since one line may fill the disk.
// 1,200 bytes leave room for three logs and the check's own output in toolproto.OutputTail.
// A full disk is named as a gate knows it: a server that ends of it may print pages behind
// the line that says so, or only the error's number, 28.
const gateScript = `"$@"
code=$?
if [ "$code" -ne 0 ]; then
	for log in %s; do
		[ -s "$log" ] || continue
		printf '\n[the end of %%s]\n' "$log" >&2
		tail -c 1200 "$log" | tail -n 20 >&2
		tail -c 100000 "$log" | grep -aiqE 'no space left|err(or|no)( number)?:? 28([^0-9]|$)' && echo '[a line of this log says: No space left on device]' >&2
	done
fi
exit "$code"`

// describeEnded is the variable toolproto.ServicesEnded. A process that is gone is no proof:
// a test may have started its service anew.
func (s *services) describeEnded() []string {
	if len(s.list.Services) == 0 {
		return nil
	}
	var b strings.Builder
	for _, one := range s.list.Services {
		ready := "false"
		if len(one.Ready) > 0 {
			ready = "timeout 10"
			for _, word := range one.Ready {
				ready += " " + shell.QuoteArgument(word)
			}
		}
		fmt.Fprintf(&b, "kill -0 %d 2>/dev/null || %s >/dev/null 2>&1 || printf '\\n%%s\\n' %s >&2\n",
			s.running[one.Name].pid, ready, shell.QuoteArgument(toolproto.ServiceEnded+one.Name+"]"))
	}
	return []string{toolproto.ServicesEnded + "=" + b.String()}
}

// wrapGate is a gate's command where there are services.
func (s *services) wrapGate(argv []string) []string {
	if len(s.list.Services) == 0 {
		return argv
	}
	var logs []string
	for _, one := range s.list.Services {
		logs = append(logs, "'"+logOf(one)+"'")
	}
	return append([]string{"/bin/sh", "-c", fmt.Sprintf(gateScript, strings.Join(logs, " ")), "sh"}, argv...)
}
