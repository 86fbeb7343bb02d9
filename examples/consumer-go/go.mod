module example.com/consumer-go

go 1.21
