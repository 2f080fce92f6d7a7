package command

// PriorityWords holds the values of the flag --priority, for shell completion.
var PriorityWords = []string{"low\tafter others", "medium\tas most tasks", "high\tbefore others"}
