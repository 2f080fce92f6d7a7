package command

// PriorityWords are what a flag --priority takes, for shells that complete them.
var PriorityWords = []string{"low\tafter others", "medium\tas most tasks", "high\tbefore others"}
