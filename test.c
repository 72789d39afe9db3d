#include <stdio.h>
#include <stdlib.h>
int main(void){ char *p = malloc(10); if(!p) exit(1); printf("%p\n", (void*)p); free(p); return 0; }
