package toolserver

import (
	"fmt"
	"strings"

	"company/internal/lib/shellquote"
	"company/internal/toolbox/toolproto"
)

// gateScript is the first process of a gate's container with services. It runs the command, and after a failure prints
// the end of each service's log. The exit code is the command's. No command can kill the first process. A log is cut
// by bytes before it is cut by lines, because one line may fill the disk. 1,200 bytes leave room for three logs and
// the check's own output in toolproto.OutputTail. A full disk is reported with the text that a gate recognizes. A
// server that fails because of it may print pages after the message, or only the error number 28.
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

// describeEnded returns the variable toolproto.ServicesEnded. A missing process is not proof that a service ended,
// because a test may have restarted it.
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
				ready += " " + shellquote.QuoteArgument(word)
			}
		}
		fmt.Fprintf(&b, "kill -0 %d 2>/dev/null || %s >/dev/null 2>&1 || printf '\\n%%s\\n' %s >&2\n",
			s.running[one.Name].pid, ready, shellquote.QuoteArgument(toolproto.ServiceEnded+one.Name+"]"))
	}
	return []string{toolproto.ServicesEnded + "=" + b.String()}
}

// wrapGate wraps a gate's command in gateScript if there are services.
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
