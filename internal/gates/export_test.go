package gates

// For the tests of the package from outside.
var IsTest = isTest
