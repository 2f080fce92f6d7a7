package reviewer

import (
	"fmt"
	"strings"

	"company/internal/agent"
	"company/internal/gitops"
)

// bypassedText lists the files whose content bypasses an attribute of git.
func bypassedText(files []gitops.BypassedFile) string {
	if len(files) == 0 {
		return ""
	}
	var lines []string
	for i, file := range files {
		if i == maxGateFiles {
			lines = append(lines, fmt.Sprintf("and %d more", len(files)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s (%s): %s", file.Path, file.By, file.By.Explain()))
	}
	return "\n## Files that no filter has passed\nFilters and conversions of .gitattributes do not run here, so these " +
		"are stored as they were written. Does the ticket need that? If it does not, it is blocking:\n" +
		agent.Quote("bypassed", "", strings.Join(lines, "\n"))
}
