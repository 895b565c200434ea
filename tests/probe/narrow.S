/* A 32-bit program without a library: writes, forks a child that writes, and executes what it was told to. */
.globl _start
_start:
	mov $4, %eax /* write */
	mov $1, %ebx
	mov $said, %ecx
	mov $7, %edx
	int $0x80
	mov $2, %eax /* fork */
	int $0x80
	test %eax, %eax
	jz child
	mov %eax, %ebx
	mov $7, %eax /* waitpid */
	xor %ecx, %ecx
	xor %edx, %edx
	int $0x80
	mov $11, %eax /* execve */
	mov 8(%esp), %ebx
	lea 8(%esp), %ecx
	xor %edx, %edx
	int $0x80
child:
	mov $4, %eax
	mov $1, %ebx
	mov $said, %ecx
	mov $7, %edx
	int $0x80
	mov $1, %eax /* exit */
	xor %ebx, %ebx
	int $0x80
said:
	.ascii "narrow\n"
.section .note.GNU-stack, "", %progbits
